// Generated from docs/openapi.json by `make docs`.

import type {
  Analysis,
  AnalyzeText,
  ArbitrationAnswer,
  ArbitrationRequest,
  AuditPage,
  BusPage,
  CheckIn,
  Conflict,
  ConflictResolved,
  ConflictsPage,
  ContextAnswer,
  ContextRequest,
  ConversationDeleted,
  ConversationsPage,
  CountsAgain,
  DecisionReverted,
  DecisionsPage,
  DeleteItem,
  DeleteItems,
  DeleteMemories,
  Erasure,
  ErasureAccepted,
  Event,
  EventCorrection,
  EventsAnswer,
  EventsPage,
  EventsRequest,
  FeedbackAnswer,
  FeedbackRequest,
  FoundItems,
  Goal,
  GoalAdded,
  GoalPatch,
  GoalsList,
  Health,
  ImportAnswer,
  ItemBatch,
  ItemBatchResults,
  ItemOrNull,
  ItemsDeleted,
  Job,
  JobBody,
  JobsPage,
  KnowledgeEntry,
  KnowledgeLearnt,
  KnowledgePage,
  KnowledgeResolved,
  KnowledgeValue,
  LearnRequest,
  ListNamespaces,
  LogAppend,
  LogAppendedEntries,
  LogBranches,
  LogEntriesPage,
  LogEntry,
  LogEntryPatch,
  LogEntryVersions,
  LogPopped,
  LogsPage,
  MemoriesDeleted,
  MemoriesMerged,
  MemoriesPage,
  Memory,
  MemoryHistory,
  MemoryMerge,
  MemoryPatch,
  MemorySaved,
  MergeAnswer,
  MergeRequest,
  MergeRule,
  MergeRuleChanges,
  MergeRuleDocument,
  MergeRuleMatch,
  MergeRuleQuestion,
  MergeRulesImport,
  MergeRulesPage,
  Namespaces,
  NewGoal,
  NewMemory,
  PutItem,
  Readiness,
  ReconcileBody,
  ReindexBody,
  RejectionsPage,
  Resolution,
  ResolveRequest,
  RestoreBody,
  RulesAnswer,
  RulesDocument,
  SearchAnswer,
  SearchItems,
  SearchRequest,
  SignalAnswer,
  SignalRequest,
  SnapshotBody,
  SnapshotsPage,
  SummariesPage,
  SummaryMade,
  ToolCallsAnswer,
  ToolCallsRequest,
  TurnAnswer,
  TurnRequest,
  Usage,
  UsersPage,
} from "./schemas.js";
import type { RequestOptions, Transport } from "./transport.js";

export interface ListEventsArguments {
  user_id: string;
  persona_id?: string;
  household_id?: string;
  conversation_id?: string;
  event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom";
  agent_id?: string;
  app_id?: string;
  /** Exactly this one: its labels with slashes between. */
  namespace?: string;
  /** This one and all below it. */
  namespace_prefix?: string;
  /** Inclusive. */
  from?: string | number;
  /** Inclusive. */
  to?: string | number;
  /** Without any bound: the last 30 days. */
  last_days?: number;
  /** The same as `limit`; absent: 50. */
  top_k?: number;
  limit?: number;
  cursor?: string;
}

export interface GetEventArguments {
  user_id: string;
  event_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface DeleteEventArguments {
  user_id: string;
  event_id: string;
  persona_id?: string;
  household_id?: string;
  /** Refuses the value in its scope from now on, however it is written. */
  reject?: "true" | "false";
}

export interface ListConversationsArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
}

export interface ListBusArguments {
  type?: string;
  after?: string;
}

export interface ListMemoriesArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  persona_id?: string;
  household_id?: string;
  /** Only those; `active` ones are current. Absent: all, with those that were superseded. */
  status?: "active" | "superseded" | "merged" | "retracted" | "expired" | "rejected";
  key?: string;
  /** The memory that this event is in. */
  source_event_id?: string;
  agent_id?: string;
  app_id?: string;
  /** Exactly this one: its labels with slashes between. */
  namespace?: string;
  /** This one and all below it. */
  namespace_prefix?: string;
  /** The grammar of docs/filters.md, as JSON text. */
  filter?: string;
}

export interface GetMemoryArguments {
  user_id: string;
  memory_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface PatchMemoryArguments extends MemoryPatch {
  user_id: string;
  memory_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface DeleteMemoryArguments {
  user_id: string;
  memory_id: string;
  persona_id?: string;
  household_id?: string;
  /** Refuses the value in its scope from now on, however it is written. */
  reject?: "true" | "false";
}

export interface CorrectEventArguments extends EventCorrection {
  user_id: string;
  event_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface MemoryHistoryArguments {
  user_id: string;
  memory_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface PutKnowledgeArguments extends KnowledgeValue {
  namespace: string;
  key: string;
}

export interface GetKnowledgeArguments {
  namespace: string;
  key: string;
}

export interface DeleteKnowledgeArguments {
  namespace: string;
  key: string;
}

export interface ListNamespaceArguments {
  namespace: string;
  limit?: number;
  cursor?: string;
}

export interface ListKnowledgeArguments {
  limit?: number;
  cursor?: string;
  /** `prompt`: the sections of a prompt. */
  format?: "entries" | "prompt";
  /** With `format=prompt`: only what holds in this store. */
  store?: string;
}

export interface DeleteKeyArguments {
  user_id: string;
  key: string;
  /** Absent: the default persona's slot. */
  persona_id?: string;
  /** Absent: the slot without a household. */
  household_id?: string;
}

export interface DeleteConversationArguments {
  user_id: string;
  conversation_id: string;
  /** Events of this call. */
  limit?: number;
  cursor?: string;
  persona_id?: string;
  household_id?: string;
}

export interface ListRejectionsArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  /** Absent: every persona. */
  persona_id?: string;
  household_id?: string;
}

export interface LiftRejectionArguments {
  user_id: string;
  rejection_id: string;
  /** Absent: every persona. */
  persona_id?: string;
  household_id?: string;
}

export interface EraseUserArguments {
  user_id: string;
}

export interface GetErasureArguments {
  erasure_id: string;
}

export interface ListSummariesArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  /** Absent: every persona. */
  persona_id?: string;
}

export interface SummarizeArguments {
  user_id: string;
  /** Absent: the default persona. */
  persona_id?: string;
  /** Makes one before it is due. */
  force?: "true" | "false";
}

export interface ListGoalsArguments {
  user_id: string;
  /** Absent: every persona. */
  persona_id?: string;
}

export interface AddGoalArguments extends NewGoal {
  user_id: string;
  /** Absent: the default persona. */
  persona_id?: string;
}

export interface PatchGoalArguments extends GoalPatch {
  user_id: string;
  goal_id: string;
  /** Where given, the goal must be that persona's. */
  persona_id?: string;
}

export interface CheckInArguments extends CheckIn {
  user_id: string;
  goal_id: string;
  /** Where given, the goal must be that persona's. */
  persona_id?: string;
}

export interface SummarizeJobArguments extends JobBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface RetainJobArguments extends JobBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface ReconcileJobArguments extends ReconcileBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface SnapshotJobArguments extends SnapshotBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface RestoreJobArguments extends RestoreBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface ReindexJobArguments extends ReindexBody {
  /** Answers when the job has ended, on a laptop; in the cloud a job is always answered at once. */
  wait?: "true" | "false";
}

export interface ListJobsArguments {
  limit?: number;
  cursor?: string;
}

export interface GetJobArguments {
  job_id: string;
}

export interface ListAuditArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  target_id?: string;
  action?: "create" | "supersede" | "merge" | "patch" | "delete" | "reject" | "refuse" | "restore" | "revert" | "erase";
}

export interface ListLedgerArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  outcome?: "promoted" | "duplicate" | "deferred" | "refused" | "failed" | "pruned" | "reconciled";
  event_id?: string;
}

export interface ExportUserArguments {
  user_id: string;
  persona_id?: string;
  household_id?: string;
  cursor?: string;
}

export interface ImportUserArguments {
  user_id: string;
  /** JSON Lines. */
  lines: string;
}

export interface ListSnapshotsArguments {
  limit?: number;
  cursor?: string;
}

export interface PutMergeRuleArguments extends MergeRuleDocument {
  name: string;
}

export interface PatchMergeRuleArguments extends MergeRuleChanges {
  name: string;
}

export interface GetMergeRuleArguments {
  name: string;
}

export interface DeleteMergeRuleArguments {
  name: string;
}

export interface ListMergeRulesArguments {
  /** Without limit and cursor: all of them, as an export. */
  limit?: number;
  cursor?: string;
}

export interface ListDecisionsArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  persona_id?: string;
  household_id?: string;
  /** Only the one of this id. */
  id?: string;
  /** Adds `words`: what both said, and what of it ended or is in doubt. */
  words?: "true" | "false";
  /** Whether it holds, was taken back, or fell with its winner. */
  status?: "applied" | "reverted" | "withdrawn";
  /** What decided. */
  step?: "key" | "judge" | "model" | "cue" | "arbiter" | "user";
  winner?: string;
  loser?: string;
}

export interface RevertDecisionArguments extends CountsAgain {
  user_id: string;
  arbitration_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface ReapplyDecisionArguments {
  user_id: string;
  arbitration_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface ListConflictsArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
  persona_id?: string;
  household_id?: string;
  /** Only the one of this id. */
  id?: string;
  /** Adds `words`: what both said, and what of it ended or is in doubt. */
  words?: "true" | "false";
  status?: "open" | "settled";
  /** Only those of which this memory, or event, is a side. */
  record?: string;
}

export interface ResolveConflictArguments extends Resolution {
  user_id: string;
  conflict_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface ReopenConflictArguments {
  user_id: string;
  conflict_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface MergeMemoriesArguments extends MemoryMerge {
  user_id: string;
  memory_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface GetItemArguments {
  /** The labels with dots between. */
  namespace: string;
  key: string;
  /** `false` leaves the item's lifetime as it is. */
  refresh_ttl?: "true" | "false";
}

export interface AppendToLogArguments extends LogAppend {
  user_id: string;
  conversation_id: string;
}

export interface ReadLogArguments {
  user_id: string;
  conversation_id: string;
  /** The branch; absent: `main`. */
  branch?: string;
  /** `desc`: the last ones, the newest first. */
  order?: "asc" | "desc";
  /** `true`: what leads to the branch too: its parents' entries, up to where it begins. */
  include_parents?: "true" | "false";
  /** `true`: the entries of all branches, in one order. */
  every_branch?: "true" | "false";
  limit?: number;
  cursor?: string;
}

export interface ClearLogArguments {
  user_id: string;
  conversation_id: string;
}

export interface ListLogBranchesArguments {
  user_id: string;
  conversation_id: string;
}

export interface GetLogEntryArguments {
  user_id: string;
  conversation_id: string;
  sequence: string;
}

export interface PatchLogEntryArguments extends LogEntryPatch {
  user_id: string;
  conversation_id: string;
  sequence: string;
}

export interface DeleteLogEntryArguments {
  user_id: string;
  conversation_id: string;
  sequence: string;
}

export interface LogEntryHistoryArguments {
  user_id: string;
  conversation_id: string;
  sequence: string;
  limit?: number;
  cursor?: string;
}

export interface PopFromLogArguments {
  user_id: string;
  conversation_id: string;
  /** The branch; absent: `main`. */
  branch?: string;
}

export interface ListLogsArguments {
  user_id: string;
  limit?: number;
  cursor?: string;
}

export interface ListUsersArguments {
  limit?: number;
  cursor?: string;
}

/** A method for each operation of the server. */
export class Operations {
  constructor(private readonly transport: Transport) {}

  /** Stores 1 to 100 events; answers once they are durable. `POST /v1/events` */
  addEvents(given: EventsRequest, options?: RequestOptions): Promise<EventsAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/events", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** What ingest and retrieval would decide of a text, storing nothing. `POST /v1/analyze` */
  analyze(given: AnalyzeText, options?: RequestOptions): Promise<Analysis> {
    return this.transport.send({ method: "POST", path: "/v1/analyze", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The timeline, newest first. `GET /v1/users/{user_id}/events` */
  listEvents(given: ListEventsArguments, options?: RequestOptions): Promise<EventsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/events", query: ["persona_id", "household_id", "conversation_id", "event_type", "agent_id", "app_id", "namespace", "namespace_prefix", "from", "to", "last_days", "top_k", "limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** One event. `GET /v1/users/{user_id}/events/{event_id}` */
  getEvent(given: GetEventArguments, options?: RequestOptions): Promise<Event> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/events/{event_id}", query: ["persona_id", "household_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes an event and what was derived from it; the same event sent again is refused. `DELETE /v1/users/{user_id}/events/{event_id}` */
  deleteEvent(given: DeleteEventArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/events/{event_id}", query: ["persona_id", "household_id", "reject"], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The user's conversations, the last begun first. `GET /v1/users/{user_id}/conversations` */
  listConversations(given: ListConversationsArguments, options?: RequestOptions): Promise<ConversationsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conversations", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Finds what was said: hybrid, semantic, lexical or by intent, with reasons. `POST /v1/search` */
  search(given: SearchRequest = {}, options?: RequestOptions): Promise<SearchAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/search", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Says whether a search helped; it is counted, and nothing is stored. `POST /v1/feedback` */
  giveFeedback(given: FeedbackRequest, options?: RequestOptions): Promise<FeedbackAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/feedback", query: [], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** The tenant's last 1,000 published events, oldest first. `GET /v1/bus` */
  listBus(given: ListBusArguments = {}, options?: RequestOptions): Promise<BusPage> {
    return this.transport.send({ method: "GET", path: "/v1/bus", query: ["type", "after"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Saves one memory; where one already says the same, answers 200 with that one. `POST /v1/memories` */
  saveMemory(given: NewMemory, options?: RequestOptions): Promise<MemorySaved> {
    return this.transport.send({ method: "POST", path: "/v1/memories", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Memories, the last made first; superseded ones too, unless `status` is `active`. `GET /v1/users/{user_id}/memories` */
  listMemories(given: ListMemoriesArguments, options?: RequestOptions): Promise<MemoriesPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/memories", query: ["limit", "cursor", "persona_id", "household_id", "status", "key", "source_event_id", "agent_id", "app_id", "namespace", "namespace_prefix", "filter"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** One memory. `GET /v1/users/{user_id}/memories/{memory_id}` */
  getMemory(given: GetMemoryArguments, options?: RequestOptions): Promise<Memory> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/memories/{memory_id}", query: ["persona_id", "household_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Edits a memory; what it was stays in its history. `PATCH /v1/users/{user_id}/memories/{memory_id}` */
  patchMemory(given: PatchMemoryArguments, options?: RequestOptions): Promise<Memory> {
    return this.transport.send({ method: "PATCH", path: "/v1/users/{user_id}/memories/{memory_id}", query: ["persona_id", "household_id"], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** Deletes a memory with the events it was made from; they are refused when they are sent again. `DELETE /v1/users/{user_id}/memories/{memory_id}` */
  deleteMemory(given: DeleteMemoryArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/memories/{memory_id}", query: ["persona_id", "household_id", "reject"], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Sets right what is remembered of an event that has no memory yet. `POST /v1/users/{user_id}/events/{event_id}/correct` */
  correctEvent(given: CorrectEventArguments, options?: RequestOptions): Promise<Memory> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/events/{event_id}/correct", query: ["persona_id", "household_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Deletes all memories that match, each as by itself; with `dry_run` it says how many there are. `POST /v1/memories/delete` */
  deleteMemories(given: DeleteMemories = {}, options?: RequestOptions): Promise<MemoriesDeleted> {
    return this.transport.send({ method: "POST", path: "/v1/memories/delete", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Every version of a memory, the oldest first, each in the words that it told: without what of it had ended. `GET /v1/users/{user_id}/memories/{memory_id}/history` */
  memoryHistory(given: MemoryHistoryArguments, options?: RequestOptions): Promise<MemoryHistory> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/memories/{memory_id}/history", query: ["persona_id", "household_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** What the next model call should see, with the reason for each line. `POST /v1/context` */
  buildContext(given: ContextRequest, options?: RequestOptions): Promise<ContextAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/context", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The process answers. `GET /v1/health` */
  health(options?: RequestOptions): Promise<Health> {
    return this.transport.send({ method: "GET", path: "/v1/health", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, {}, options);
  }

  /** Whether every part answers. `GET /v1/ready` */
  ready(options?: RequestOptions): Promise<Readiness> {
    return this.transport.send({ method: "GET", path: "/v1/ready", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [503] }, {}, options);
  }

  /** The tenant's rules, resolved, with their version. `GET /v1/rules` */
  getRules(options?: RequestOptions): Promise<RulesAnswer> {
    return this.transport.send({ method: "GET", path: "/v1/rules", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, {}, options);
  }

  /** Replaces the tenant's own rules, which are merged over the deployment's. `PUT /v1/rules` */
  putRules(given: RulesDocument = {}, options?: RequestOptions): Promise<RulesAnswer> {
    return this.transport.send({ method: "PUT", path: "/v1/rules", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Makes or replaces an entry. `PUT /v1/knowledge/{namespace}/{key}` */
  putKnowledge(given: PutKnowledgeArguments, options?: RequestOptions): Promise<KnowledgeEntry> {
    return this.transport.send({ method: "PUT", path: "/v1/knowledge/{namespace}/{key}", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** One entry. `GET /v1/knowledge/{namespace}/{key}` */
  getKnowledge(given: GetKnowledgeArguments, options?: RequestOptions): Promise<KnowledgeEntry> {
    return this.transport.send({ method: "GET", path: "/v1/knowledge/{namespace}/{key}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes an entry. `DELETE /v1/knowledge/{namespace}/{key}` */
  deleteKnowledge(given: DeleteKnowledgeArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/knowledge/{namespace}/{key}", query: [], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The entries of a namespace. `GET /v1/knowledge/{namespace}` */
  listNamespace(given: ListNamespaceArguments, options?: RequestOptions): Promise<KnowledgePage> {
    return this.transport.send({ method: "GET", path: "/v1/knowledge/{namespace}", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** All entries, or what a prompt says of them. `GET /v1/knowledge` */
  listKnowledge(given: ListKnowledgeArguments = {}, options?: RequestOptions): Promise<KnowledgePage> {
    return this.transport.send({ method: "GET", path: "/v1/knowledge", query: ["limit", "cursor", "format", "store"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** A query with learnt terms and rules applied. `POST /v1/knowledge/resolve` */
  resolveKnowledge(given: ResolveRequest, options?: RequestOptions): Promise<KnowledgeResolved> {
    return this.transport.send({ method: "POST", path: "/v1/knowledge/resolve", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Learns what a text says a word means. `POST /v1/knowledge/learn` */
  learnKnowledge(given: LearnRequest, options?: RequestOptions): Promise<KnowledgeLearnt> {
    return this.transport.send({ method: "POST", path: "/v1/knowledge/learn", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Reads the tool calls in a model's text, and makes them where that is asked for. `POST /v1/tool-calls` */
  callTools(given: ToolCallsRequest, options?: RequestOptions): Promise<ToolCallsAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/tool-calls", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** One turn: stores the input, answers it from memory by the model, stores the answer. `POST /v1/turns` */
  takeTurn(given: TurnRequest, options?: RequestOptions): Promise<TurnAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/turns", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Deletes a slot with its whole history; no older value comes back. `DELETE /v1/users/{user_id}/keys/{key}` */
  deleteKey(given: DeleteKeyArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/keys/{key}", query: ["persona_id", "household_id"], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes the events of a conversation, each as by itself; at the end its log is cleared, and it is not listed. `DELETE /v1/users/{user_id}/conversations/{conversation_id}` */
  deleteConversation(given: DeleteConversationArguments, options?: RequestOptions): Promise<ConversationDeleted> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/conversations/{conversation_id}", query: ["limit", "cursor", "persona_id", "household_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The values that were rejected: ids, times and scopes, no text. `GET /v1/users/{user_id}/rejections` */
  listRejections(given: ListRejectionsArguments, options?: RequestOptions): Promise<RejectionsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/rejections", query: ["limit", "cursor", "persona_id", "household_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Lets a rejected value in again; what was deleted stays deleted. `DELETE /v1/users/{user_id}/rejections/{rejection_id}` */
  liftRejection(given: LiftRejectionArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/rejections/{rejection_id}", query: ["persona_id", "household_id"], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Erases a user everywhere; what was recorded before is refused for ever, the user may start anew. `DELETE /v1/users/{user_id}` */
  eraseUser(given: EraseUserArguments, options?: RequestOptions): Promise<ErasureAccepted> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** How far an erasure is: what was reached, and which copies lapse when. `GET /v1/erasures/{erasure_id}` */
  getErasure(given: GetErasureArguments, options?: RequestOptions): Promise<Erasure> {
    return this.transport.send({ method: "GET", path: "/v1/erasures/{erasure_id}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Summaries, newest first. `GET /v1/users/{user_id}/summaries` */
  listSummaries(given: ListSummariesArguments, options?: RequestOptions): Promise<SummariesPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/summaries", query: ["limit", "cursor", "persona_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Makes a summary where one is due, or forced. `POST /v1/users/{user_id}/summaries` */
  summarize(given: SummarizeArguments, options?: RequestOptions): Promise<SummaryMade> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/summaries", query: ["persona_id", "force"], body: "none", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** The goals that the user follows, or has followed. `GET /v1/users/{user_id}/goals` */
  listGoals(given: ListGoalsArguments, options?: RequestOptions): Promise<GoalsList> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/goals", query: ["persona_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Sets a goal; where one has the same words already, answers 200 with that one, active again. `POST /v1/users/{user_id}/goals` */
  addGoal(given: AddGoalArguments, options?: RequestOptions): Promise<GoalAdded> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/goals", query: ["persona_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Changes a goal. `PATCH /v1/users/{user_id}/goals/{goal_id}` */
  patchGoal(given: PatchGoalArguments, options?: RequestOptions): Promise<Goal> {
    return this.transport.send({ method: "PATCH", path: "/v1/users/{user_id}/goals/{goal_id}", query: ["persona_id"], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** Notes whether an occasion of a goal was kept or missed. `POST /v1/users/{user_id}/goals/{goal_id}/check-ins` */
  checkIn(given: CheckInArguments, options?: RequestOptions): Promise<Goal> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/goals/{goal_id}/check-ins", query: ["persona_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Makes every summary that is due. `POST /v1/jobs/summarize` */
  summarizeJob(given: SummarizeJobArguments = {}, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/summarize", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Prunes what the tenant's retention rules, and times of expiry, let go. `POST /v1/jobs/retain` */
  retainJob(given: RetainJobArguments = {}, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/retain", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Projects all that was accepted before, but for events that fail by their own fault. `POST /v1/jobs/reconcile` */
  reconcileJob(given: ReconcileJobArguments = {}, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/reconcile", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Makes a snapshot of the tenant. `POST /v1/jobs/snapshot` */
  snapshotJob(given: SnapshotJobArguments = {}, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/snapshot", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Restores a snapshot. `POST /v1/jobs/restore` */
  restoreJob(given: RestoreJobArguments, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/restore", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Builds the search index anew beside the old one. `POST /v1/jobs/reindex` */
  reindexJob(given: ReindexJobArguments = {}, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "POST", path: "/v1/jobs/reindex", query: ["wait"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Jobs and erasures, the newest first; a job is listed for 90 days after its end. `GET /v1/jobs` */
  listJobs(given: ListJobsArguments = {}, options?: RequestOptions): Promise<JobsPage> {
    return this.transport.send({ method: "GET", path: "/v1/jobs", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** How a job stands. `GET /v1/jobs/{job_id}` */
  getJob(given: GetJobArguments, options?: RequestOptions): Promise<Job> {
    return this.transport.send({ method: "GET", path: "/v1/jobs/{job_id}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Warns of the episodic store, which suspends automatic promotion, or says that it is healthy again. `POST /v1/signals` */
  signal(given: SignalRequest, options?: RequestOptions): Promise<SignalAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/signals", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Every change and refusal of a user's memory, newest first, without contents. `GET /v1/users/{user_id}/audit` */
  listAudit(given: ListAuditArguments, options?: RequestOptions): Promise<AuditPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/audit", query: ["limit", "cursor", "target_id", "action"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** What the bridge made of events, newest first: outcome, memories, or the failure. `GET /v1/users/{user_id}/ledger` */
  listLedger(given: ListLedgerArguments, options?: RequestOptions): Promise<AuditPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/ledger", query: ["limit", "cursor", "outcome", "event_id"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** A page of a user's records as NDJSON; `Link` names the next one. `GET /v1/users/{user_id}/export` */
  exportUser(given: ExportUserArguments, options?: RequestOptions): Promise<string> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/export", query: ["persona_id", "household_id", "cursor"], body: "none", answer: "text", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Stores a page of an export; what was deleted is refused. `POST /v1/users/{user_id}/import` */
  importUser(given: ImportUserArguments, options?: RequestOptions): Promise<ImportAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/import", query: [], body: "ndjson", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** The tenant's snapshots, the newest first. `GET /v1/snapshots` */
  listSnapshots(given: ListSnapshotsArguments = {}, options?: RequestOptions): Promise<SnapshotsPage> {
    return this.transport.send({ method: "GET", path: "/v1/snapshots", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Which of a candidate and existing memories counts. `POST /v1/arbitrations` */
  arbitrate(given: ArbitrationRequest, options?: RequestOptions): Promise<ArbitrationAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/arbitrations", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Two statements as one. `POST /v1/merges` */
  mergeStatements(given: MergeRequest, options?: RequestOptions): Promise<MergeAnswer> {
    return this.transport.send({ method: "POST", path: "/v1/merges", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Registers or replaces a merge rule. `PUT /v1/merge-rules/{name}` */
  putMergeRule(given: PutMergeRuleArguments, options?: RequestOptions): Promise<MergeRule> {
    return this.transport.send({ method: "PUT", path: "/v1/merge-rules/{name}", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Merges changes into a merge rule. `PATCH /v1/merge-rules/{name}` */
  patchMergeRule(given: PatchMergeRuleArguments, options?: RequestOptions): Promise<MergeRule> {
    return this.transport.send({ method: "PATCH", path: "/v1/merge-rules/{name}", query: [], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** A merge rule, raw and resolved. `GET /v1/merge-rules/{name}` */
  getMergeRule(given: GetMergeRuleArguments, options?: RequestOptions): Promise<MergeRule> {
    return this.transport.send({ method: "GET", path: "/v1/merge-rules/{name}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes a merge rule. `DELETE /v1/merge-rules/{name}` */
  deleteMergeRule(given: DeleteMergeRuleArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/merge-rules/{name}", query: [], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** All merge rules: an export. `GET /v1/merge-rules` */
  listMergeRules(given: ListMergeRulesArguments = {}, options?: RequestOptions): Promise<MergeRulesPage> {
    return this.transport.send({ method: "GET", path: "/v1/merge-rules", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Registers all of these merge rules, or none. `POST /v1/merge-rules/import` */
  importMergeRules(given: MergeRulesImport, options?: RequestOptions): Promise<MergeRulesPage> {
    return this.transport.send({ method: "POST", path: "/v1/merge-rules/import", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** The merge rule that a candidate meets. `POST /v1/merge-rules/match` */
  matchMergeRule(given: MergeRuleQuestion, options?: RequestOptions): Promise<MergeRuleMatch> {
    return this.transport.send({ method: "POST", path: "/v1/merge-rules/match", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** What was decided between memories, by which rule, and how to undo it. `GET /v1/users/{user_id}/arbitrations` */
  listDecisions(given: ListDecisionsArguments, options?: RequestOptions): Promise<DecisionsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/arbitrations", query: ["limit", "cursor", "persona_id", "household_id", "id", "words", "status", "step", "winner", "loser"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Takes a decision back: the loser counts again, in other words where they are given. `POST /v1/users/{user_id}/arbitrations/{arbitration_id}/revert` */
  revertDecision(given: RevertDecisionArguments, options?: RequestOptions): Promise<DecisionReverted> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/arbitrations/{arbitration_id}/revert", query: ["persona_id", "household_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Makes a decision again that was taken back: the loser is what the decision had made of it. `POST /v1/users/{user_id}/arbitrations/{arbitration_id}/reapply` */
  reapplyDecision(given: ReapplyDecisionArguments, options?: RequestOptions): Promise<DecisionReverted> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/arbitrations/{arbitration_id}/reapply", query: ["persona_id", "household_id"], body: "none", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Memories of which no rule can tell which counts, with the arbiter's proposal. `GET /v1/users/{user_id}/conflicts` */
  listConflicts(given: ListConflictsArguments, options?: RequestOptions): Promise<ConflictsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conflicts", query: ["limit", "cursor", "persona_id", "household_id", "id", "words", "status", "record"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** A person's word on which of the two counts, so that the other one is superseded; or that both hold. `POST /v1/users/{user_id}/conflicts/{conflict_id}/resolve` */
  resolveConflict(given: ResolveConflictArguments, options?: RequestOptions): Promise<ConflictResolved> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/conflicts/{conflict_id}/resolve", query: ["persona_id", "household_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Takes back that both hold: the conflict is open again. `POST /v1/users/{user_id}/conflicts/{conflict_id}/reopen` */
  reopenConflict(given: ReopenConflictArguments, options?: RequestOptions): Promise<Conflict> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/conflicts/{conflict_id}/reopen", query: ["persona_id", "household_id"], body: "none", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** One memory takes up another; the other stays, as merged into it. `POST /v1/users/{user_id}/memories/{memory_id}/merge` */
  mergeMemories(given: MergeMemoriesArguments, options?: RequestOptions): Promise<MemoriesMerged> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/memories/{memory_id}/merge", query: ["persona_id", "household_id"], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** One item, or null. `GET /store/items` */
  getItem(given: GetItemArguments, options?: RequestOptions): Promise<ItemOrNull> {
    return this.transport.send({ method: "GET", path: "/store/items", query: ["namespace", "key", "refresh_ttl"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Keeps a document at a namespace and a key, in the place of what was there. `PUT /store/items` */
  putItem(given: PutItem, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "PUT", path: "/store/items", query: [], body: "json", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes an item; one that is not there is deleted already. `DELETE /store/items` */
  deleteItem(given: DeleteItem, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/store/items", query: [], body: "json", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Items below a prefix of namespaces, by fields and by meaning; the last written first where nothing is asked. `POST /store/items/search` */
  searchItems(given: SearchItems = {}, options?: RequestOptions): Promise<FoundItems> {
    return this.transport.send({ method: "POST", path: "/store/items/search", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Deletes all items that match; with `dry_run` it says how many there are. `POST /store/items/delete` */
  deleteItems(given: DeleteItems = {}, options?: RequestOptions): Promise<ItemsDeleted> {
    return this.transport.send({ method: "POST", path: "/store/items/delete", query: [], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** Namespaces that have items, sorted. `POST /store/namespaces` */
  listItemNamespaces(given: ListNamespaces = {}, options?: RequestOptions): Promise<Namespaces> {
    return this.transport.send({ method: "POST", path: "/store/namespaces", query: [], body: "json", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Several operations at once: what is read is read before anything is written. `POST /store/batch` */
  batchItems(given: ItemBatch, options?: RequestOptions): Promise<ItemBatchResults> {
    return this.transport.send({ method: "POST", path: "/store/batch", query: [], body: "json", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** Appends entries to the log of a conversation, all or none. `POST /v1/users/{user_id}/conversations/{conversation_id}/log` */
  appendToLog(given: AppendToLogArguments, options?: RequestOptions): Promise<LogAppendedEntries> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/conversations/{conversation_id}/log", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Entries of the log, from the first or from the last one on. `GET /v1/users/{user_id}/conversations/{conversation_id}/log` */
  readLog(given: ReadLogArguments, options?: RequestOptions): Promise<LogEntriesPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conversations/{conversation_id}/log", query: ["branch", "order", "include_parents", "every_branch", "limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Removes all entries of the log, and its branches. `DELETE /v1/users/{user_id}/conversations/{conversation_id}/log` */
  clearLog(given: ClearLogArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/conversations/{conversation_id}/log", query: [], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The branches of the log, in the order of their roots; `main` is none of them. `GET /v1/users/{user_id}/conversations/{conversation_id}/log/branches` */
  listLogBranches(given: ListLogBranchesArguments, options?: RequestOptions): Promise<LogBranches> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/branches", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** One entry of the log, of whichever branch. `GET /v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}` */
  getLogEntry(given: GetLogEntryArguments, options?: RequestOptions): Promise<LogEntry> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Gives an entry another content; what it was stays in its history. `PATCH /v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}` */
  patchLogEntry(given: PatchLogEntryArguments, options?: RequestOptions): Promise<LogEntry> {
    return this.transport.send({ method: "PATCH", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}", query: [], body: "json", answer: "json", keyed: true, repeatable: false, answers: [] }, given, options);
  }

  /** Removes an entry with its history; the sequences of the others stay. `DELETE /v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}` */
  deleteLogEntry(given: DeleteLogEntryArguments, options?: RequestOptions): Promise<void> {
    return this.transport.send({ method: "DELETE", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}", query: [], body: "none", answer: "none", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** What an entry was before, oldest first. `GET /v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}/history` */
  logEntryHistory(given: LogEntryHistoryArguments, options?: RequestOptions): Promise<LogEntryVersions> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/entries/{sequence}/history", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** Removes the last entry of the log, or of a branch, and returns it. `POST /v1/users/{user_id}/conversations/{conversation_id}/log/pop` */
  popFromLog(given: PopFromLogArguments, options?: RequestOptions): Promise<LogPopped> {
    return this.transport.send({ method: "POST", path: "/v1/users/{user_id}/conversations/{conversation_id}/log/pop", query: ["branch"], body: "none", answer: "json", keyed: false, repeatable: false, answers: [] }, given, options);
  }

  /** The user's logs that have entries, by their conversations. `GET /v1/users/{user_id}/logs` */
  listLogs(given: ListLogsArguments, options?: RequestOptions): Promise<LogsPage> {
    return this.transport.send({ method: "GET", path: "/v1/users/{user_id}/logs", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** The users of the tenant who have a memory or a log, by their ids. `GET /v1/users` */
  listUsers(given: ListUsersArguments = {}, options?: RequestOptions): Promise<UsersPage> {
    return this.transport.send({ method: "GET", path: "/v1/users", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, given, options);
  }

  /** What was asked for and counted, of this tenant; the last minute may be missing. `GET /v1/usage` */
  getUsage(options?: RequestOptions): Promise<Usage> {
    return this.transport.send({ method: "GET", path: "/v1/usage", query: [], body: "none", answer: "json", keyed: false, repeatable: true, answers: [] }, {}, options);
  }
}
