// Generated from docs/openapi.json by `make docs`.

export type JsonObject = { [name: string]: unknown };

export interface Actor {
  kind: "user" | "admin" | "bot" | "model" | "job";
  id: string;
}

export interface Analysis {
  keywords: Array<string>;
  entities: Array<Entity>;
  intent: "question" | "command" | "statement" | "greeting";
  intent_confidence: number;
  content_type: "userpreference" | "factuallearning" | "contextualfact" | "default" | "userinput" | "assistantresponse";
  importance: number;
  importance_keywords: Array<string>;
  tags: Array<string>;
  needs_web_search: boolean;
  web_search_keywords: Array<string>;
  rules_version: string;
}

export interface AnalyzeText {
  /** May be empty. */
  text: string;
  /** Absent: `userinput`. */
  content_type?: string;
  /** The conversation before it, oldest first. */
  history?: Array<string>;
  /** Names of known spaces. */
  spaces?: Array<string>;
  /** Phrases of known categories. */
  categories?: Array<string>;
}

export interface AppliedRule {
  key: string;
  condition: string;
}

export interface ArbitrationAnswer {
  conflicts: Array<ConflictFound>;
  result: Verdict;
  rule: string;
  stored?: { [name: string]: string };
  refused?: Array<string>;
}

export interface ArbitrationRequest {
  candidate: GivenStatement;
  /** Empty with `apply`: what the store has. */
  existing: Array<GivenStatement>;
  /** Merged over those of the merge rule. */
  options?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number }; contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number; semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number; arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } }; merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number }; detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number } };
  /** The merge rule that holds; absent: the first that the candidate meets. */
  rule?: string;
  /** Stores what is decided; absent: nothing is stored. */
  apply?: boolean;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: Actor;
  action: "create" | "supersede" | "merge" | "patch" | "delete" | "reject" | "refuse" | "restore" | "revert" | "erase";
  target_ids: Array<string>;
  via: string;
  rule?: string;
  reason?: string;
  event_ids?: Array<string>;
  outcome?: "promoted" | "duplicate" | "deferred" | "refused" | "failed" | "pruned" | "reconciled";
  before?: JsonObject;
  after?: JsonObject;
  /** The version of another memory that the same change made, such as of one that took it up. */
  also?: JsonObject;
}

export interface AuditPage {
  entries: Array<AuditEntry>;
  next_cursor?: string;
}

/** One of the four. */
export interface BatchOperation {
  get?: GetItem;
  put?: PutOrDeleteItem;
  search?: SearchItems;
  list_namespaces?: ListNamespaces;
}

export interface BusEvent {
  id: string;
  type: string;
  time: string;
  detail: JsonObject;
}

export interface BusPage {
  events: Array<BusEvent>;
}

export interface CallShown {
  tool: string;
  parameters: JsonObject;
  action?: string;
}

export interface CheckIn {
  /** The day meant. A second word on it replaces the first. */
  date: string | number;
  status: "completed" | "missed";
}

export interface Conflict {
  id: string;
  newer: string;
  older: string;
  at: string;
  step: "key" | "judge" | "model" | "cue" | "arbiter" | "user";
  rule: string;
  signals: Array<JsonObject>;
  severity: number;
  status: "open" | "settled";
  proposal?: JsonObject;
  winner?: string;
  /** The judge's, that the newer one changes the older; absent where it read neither. */
  confidence?: number;
  /** Start and end, exclusive, of what would end of the older one's words; absent: not told. */
  ended?: Array<Array<number>>;
  /** With `words=true`. */
  words?: ConflictWords;
}

export interface ConflictFound {
  memory_id: string;
  signals: Array<ConflictSignal>;
  severity: number;
}

export interface ConflictResolved {
  id: string;
  newer: string;
  older: string;
  at: string;
  step: "key" | "judge" | "model" | "cue" | "arbiter" | "user";
  rule: string;
  signals: Array<JsonObject>;
  severity: number;
  status: "open" | "settled";
  proposal?: JsonObject;
  winner?: string;
  /** The judge's, that the newer one changes the older; absent where it read neither. */
  confidence?: number;
  /** Start and end, exclusive, of what would end of the older one's words; absent: not told. */
  ended?: Array<Array<number>>;
  /** With `words=true`. */
  words?: ConflictWords;
  decision_id?: string;
}

export interface ConflictSignal {
  type: "semantic" | "keyword" | "time" | "importance";
  score: number;
  memory_id?: string;
  keywords?: Array<string>;
  deltaMs?: number;
  windowMs?: number;
  delta?: number;
}

/** What both sides of a conflict say, and what of the older is in doubt. */
export interface ConflictWords {
  /** Absent: deleted, expired or rejected. */
  newer?: QuotedWords;
  /** Absent: deleted, expired or rejected. */
  older?: QuotedWords;
  /** Start and end, exclusive, of the older's words that are in doubt, where they are still said. */
  ended?: Array<Array<number>>;
}

export interface ConflictsPage {
  conflicts: Array<Conflict>;
  next_cursor?: string;
}

export interface ContextAnswer {
  prompt: string;
  /** The system prompt, where `format` has it apart. */
  system?: string | Array<TextBlock>;
  messages: Array<Message>;
  items: Array<ContextItem>;
  /** Nothing that is remembered is relevant to the input. */
  nothing_relevant: boolean;
  goals: Array<JsonObject>;
  knowledge: Array<JsonObject>;
  web_search: WebSearch;
  fence: FenceAnswer;
  tokens: number;
  diagnostics: ContextDiagnostics;
  /** With `explain`: what a search finds and nothing of this shows, best first, at most ten. */
  near_misses?: Array<NearMiss>;
  summary?: JsonObject | null;
}

export interface ContextDiagnostics {
  left_out: Array<LeftOutAnswer>;
  cut_from_messages: Array<CutAnswer>;
  missing: Array<string>;
  dropped: { [name: string]: number };
  tail_cut: boolean;
  pending: number;
  prompt_tokens: number;
  messages_tokens: number;
  rules_version: string;
  duration_ms: number;
  fallback?: "timeline" | "lexical";
  input_event_id?: string;
}

export interface ContextItem {
  id: string;
  content: string;
  timestamp: string;
  section: "recent" | "semantic" | "important";
  shown_in: Array<"prompt" | "messages">;
  reason: string;
  importance: number;
  role: "user" | "bot";
  speaker?: string;
  source_event_ids: Array<string>;
  score?: number;
  note?: string;
  /** With `explain`: in one plain sentence, why it is here. It quotes the question. */
  because?: string;
  why?: Why;
}

export interface ContextLimits {
  total?: number;
  recent?: number;
  semantic?: number;
  important?: number;
}

export interface ContextRequest {
  /** Of prompt and messages each by itself. */
  token_budget?: number;
  /** How many tokens the memories of `messages` may take. */
  memory_tokens?: number;
  /** Of `prompt`, where they differ from the rules. */
  limits?: ContextLimits;
  web_search?: "auto" | "always" | "never";
  /** Whose vocabulary and rules are meant. */
  store?: string;
  /** A second stage reads the best hits for `messages`, where the deployment has one. */
  rerank?: boolean;
  agent_id?: string;
  app_id?: string;
  /** Exactly this one. */
  namespace?: Array<string>;
  /** Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`. */
  user_id?: string;
  /** This one and all below it. */
  namespace_prefix?: Array<string>;
  /** The grammar of docs/filters.md; with `filters` both hold. */
  filter?: JsonObject;
  /** Absent: every persona. */
  persona_id?: string;
  /** Absent: every household. */
  household_id?: string;
  active_space_id?: string;
  /** Event time: what held then; windows, recency and relative times count from it. */
  as_of?: string | number;
  /** What the store knew then. */
  recorded_as_of?: string | number;
  include_superseded?: boolean;
  /** Adds `why` to each result; to a search and a context, the near misses. */
  explain?: boolean;
  /** The recent section and the raw window are that conversation's. */
  conversation_id?: string;
  /** What the user says now. */
  input: string;
  /** The input's own event, where it is stored already. */
  input_event_id?: string;
  /** Of the memories that a search finds, inclusive; 0.7 is related. Absent: none. */
  min_similarity?: number;
  /** Of `messages`: `anthropic` and `converse` (Amazon Bedrock) have the system prompt in `system`. */
  format?: "openai" | "anthropic" | "converse";
  /** When memories were said; the raw window is not bounded. */
  time_window?: GivenTimes;
  /** What memories must have; the raw window need not. */
  filters?: Filters;
}

export interface Conversation {
  id: string;
  started_at: string;
}

export interface ConversationDeleted {
  /** Events of this call; where there is a `next_cursor`, there may be more. */
  deleted: number;
  next_cursor?: string;
}

export interface ConversationsPage {
  conversations: Array<Conversation>;
  next_cursor?: string;
}

export interface CopyLapse {
  part: string;
  until: string;
}

/** What is set right of the memory that counts again; where a part of it did end, `content` without that part. */
export interface CountsAgain {
  /** Other words; those before stay in the history, and are found no longer. */
  content?: string;
  importance?: number;
  keywords?: Array<string>;
  /** Gone from every read from that instant on; null: never. */
  expires_at?: string | number | null;
  /** Replaces all of it. At most 16 KiB of JSON, 8 levels. */
  metadata?: JsonObject;
}

export interface CutAnswer {
  part: string;
  key: string;
}

export interface Decision {
  id: string;
  winner: string;
  loser: string;
  at: string;
  step: "key" | "judge" | "model" | "cue" | "arbiter" | "user";
  rule: string;
  outcome: "superseded" | "retracted" | "overridden" | "merged" | "rejected";
  reason: string;
  before: number;
  after: number;
  confidence: number;
  status: "applied" | "reverted" | "withdrawn";
  until?: string;
  revert?: string;
  /** Where it was taken back and can be made again. */
  reapply?: string;
  /** With `words=true`. */
  words?: DecisionWords;
}

export interface DecisionReverted {
  id: string;
  winner: string;
  loser: string;
  at: string;
  step: "key" | "judge" | "model" | "cue" | "arbiter" | "user";
  rule: string;
  outcome: "superseded" | "retracted" | "overridden" | "merged" | "rejected";
  reason: string;
  before: number;
  after: number;
  confidence: number;
  status: "applied" | "reverted" | "withdrawn";
  until?: string;
  revert?: string;
  /** Where it was taken back and can be made again. */
  reapply?: string;
  /** With `words=true`. */
  words?: DecisionWords;
  memory?: Memory;
}

/** What a decision ended, of what, and what holds instead. */
export interface DecisionWords {
  /** Absent: deleted, expired or rejected. */
  winner?: QuotedWords;
  /** Absent: deleted, expired or rejected. */
  loser?: QuotedWords;
  /** Start and end, exclusive, of the loser's words that ended. */
  ended?: Array<Array<number>>;
  /** Whether this decision left nothing of it. */
  whole: boolean;
  /** The day from which they do not hold, where that was told before. */
  since?: string;
  /** When they hold again. */
  until?: string;
  /** What holds of the loser by now, shortened; absent: all or nothing. */
  left?: string;
  /** Whether nothing of the loser holds by now, whatever ended it. */
  nothing_left: boolean;
}

export interface DecisionsPage {
  arbitrations: Array<Decision>;
  next_cursor?: string;
}

export interface DeleteItem {
  /** At most 16 labels of 1,024 characters together, without dots. */
  namespace: Array<string>;
  key: string;
}

/** Which items go: those below the prefix that pass; something must be named. */
export interface DeleteItems {
  namespace_prefix?: Array<string>;
  /** LangGraph's form: fields, `$eq $ne $gt $gte $lt $lte`. */
  filter?: JsonObject;
  /** The grammar of docs/filters.md; with `filter` both hold. */
  where?: JsonObject;
  /** Counts, and deletes nothing. */
  dry_run?: boolean;
  /** Items of this call. */
  limit?: number;
}

/** Which memories go: what is named must all hold; something must be named. */
export interface DeleteMemories {
  agent_id?: string;
  app_id?: string;
  /** Exactly this one. */
  namespace?: Array<string>;
  /** Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`. */
  user_id?: string;
  /** Absent: every persona. */
  persona_id?: string;
  /** Absent: every household. */
  household_id?: string;
  /** This one and all below it. */
  namespace_prefix?: Array<string>;
  /** Absent: ended ones too. */
  status?: "active" | "superseded" | "merged" | "retracted" | "expired" | "rejected";
  key?: string;
  /** The grammar of docs/filters.md. */
  filter?: JsonObject;
  /** Counts, and deletes nothing. */
  dry_run?: boolean;
  /** Memories of this call. */
  limit?: number;
  /** `next_cursor` of the call before. */
  cursor?: string;
}

export interface Entity {
  type: "date" | "measurement" | "category" | "spaceName";
  value: string;
  normalized: string;
}

export interface Erasure {
  status: "running" | "done";
  reached: { [name: string]: number };
  lapses: Array<CopyLapse>;
  verified: boolean;
  at: string;
}

export interface ErasureAccepted {
  erasure_id: string;
}

export interface Event {
  id: string;
  user_id: string;
  persona_id?: string;
  household_id?: string;
  agent_id?: string;
  app_id?: string;
  namespace?: Array<string>;
  conversation_id: string;
  role: "user" | "bot";
  speaker?: string;
  content: string;
  content_type: "userpreference" | "factuallearning" | "contextualfact" | "default" | "userinput" | "assistantresponse";
  event_type: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom";
  source: "user" | "conversation" | "skill" | "system" | "inferred";
  timestamp: string;
  recorded_at: string;
  importance: number;
  tags: Array<string>;
  key?: string;
  space_id?: string;
  title?: string;
  category?: string;
  notes?: string;
  views: number;
  is_private: boolean;
  derive: boolean;
  idempotency_key?: string;
  expires_at?: string;
  superseded_by?: string;
  metadata: JsonObject;
  version: number;
}

export interface EventCorrection {
  /** What is remembered of the event from now on. */
  content: string;
  importance?: number;
  keywords?: Array<string>;
}

export interface EventsAnswer {
  conversation_id: string;
  results: Array<IngestResult>;
}

export interface EventsDiagnostics {
  scanned: number;
  returned: number;
  filtered_by_context: number;
  filtered_by_window: number;
  dropped: { [name: string]: number };
  exact: boolean;
}

export interface EventsPage {
  events: Array<Event>;
  diagnostics: EventsDiagnostics;
  next_cursor?: string;
}

/** The events; agent, app and namespace are those of each of them. */
export interface EventsRequest {
  agent_id?: string;
  app_id?: string;
  /** A path of at most 16 labels. */
  namespace?: Array<string>;
  /** Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`. */
  user_id?: string;
  /** Absent: the default persona. */
  persona_id?: string;
  household_id?: string;
  /** Absent: a new conversation, named in the answer. */
  conversation_id?: string;
  /** A bad one does not refuse the others. */
  events: Array<NewEvent>;
}

/** An event that could not be projected: ids, counts, times and the class of the error, no text. */
export interface FailureAnswer {
  user_id: string;
  event_id: string;
  error: string;
  tries: number;
  quarantined: boolean;
  first_at: string;
  last_at: string;
  next_at?: string;
}

/** What is wrong with a part of a request, and where. */
export interface Fault {
  loc: Array<string | number>;
  message: string;
}

export interface FeedbackAnswer {
  counted: boolean;
}

export interface FeedbackRequest {
  user_id: string;
  /** Whether it helped. */
  positive: boolean;
  /** How it was found; only intent is shown. */
  mode?: "intent" | "other";
}

export interface FenceAnswer {
  open: string;
  close: string;
}

export interface Filters {
  conversation_id?: string;
  event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom";
  key?: string;
  /** All of them. */
  tags?: Array<string>;
  space_id?: string;
  source?: "user" | "conversation" | "skill" | "system" | "inferred";
  /** Top-level pairs that must be equal. */
  metadata?: JsonObject;
}

export interface FoundItem {
  namespace: Array<string>;
  key: string;
  value: JsonObject;
  created_at: string;
  updated_at: string;
  version: number;
  user_id?: string;
  expires_at?: string;
  score?: number;
}

export interface FoundItems {
  items: Array<FoundItem>;
}

export interface GetItem {
  /** At most 16 labels of 1,024 characters together, without dots. */
  namespace: Array<string>;
  key: string;
  refresh_ttl?: boolean;
}

/** A statement whole. */
export interface GivenStatement {
  user_id: string;
  /** Of any length, the same for all; absent: no semantic signal. */
  embedding?: Array<number>;
  /** user, conversation, skill, system, inferred, from the most trusted on; any other word, or none, ranks last. */
  source?: string;
  keywords?: Array<string>;
  /** Absent: the default persona. */
  persona_id?: string;
  id: string;
  content: string;
  importance: number;
  timestamp: string | number;
}

export interface GivenTimes {
  /** Inclusive. */
  from?: string | number;
  /** Inclusive. */
  to?: string | number;
  /** Days back from now, or from `as_of`. */
  last_days?: number;
}

export interface Goal {
  goal: string;
  status: "active" | "completed" | "abandoned";
  history: Array<KeptOrMissed>;
  check_in_frequency?: string;
  id: string;
  version: number;
  source_event_ids: Array<string>;
  persona_id?: string;
  source?: "user" | "conversation" | "skill" | "system" | "inferred";
}

/** The goal; of a replayed answer whose goal was deleted since, its id. */
export type GoalAdded = Goal | GoalRefused;

export interface GoalPatch {
  goal?: string;
  status?: "active" | "completed" | "abandoned";
  /** Such as `daily`, in any words. */
  check_in_frequency?: string;
}

export interface GoalRefused {
  refused: Array<string>;
}

export interface GoalsList {
  goals: Array<Goal>;
}

export interface Health {
  status: "ok";
  version: string;
}

export interface ImportAnswer {
  created: number;
  duplicate: number;
  refused: number;
  invalid: number;
  errors?: Array<LineFault>;
}

export interface IngestResult {
  status: "created" | "duplicate" | "refused" | "invalid";
  event_id?: string;
  importance?: number;
  tags?: Array<string>;
  content_type?: "userpreference" | "factuallearning" | "contextualfact" | "default" | "userinput" | "assistantresponse";
  reason?: string;
  errors?: Array<Fault>;
}

export interface Item {
  namespace: Array<string>;
  key: string;
  value: JsonObject;
  created_at: string;
  updated_at: string;
  version: number;
  user_id?: string;
  expires_at?: string;
}

export interface ItemBatch {
  operations: Array<BatchOperation>;
}

/** What one operation gave: an item where one was asked for and is there, what was found, or namespaces. */
export interface ItemBatchResult {
  item?: Item;
  items?: Array<FoundItem>;
  namespaces?: Array<Array<string>>;
}

export interface ItemBatchResults {
  results: Array<ItemBatchResult>;
}

/** The item; null where there is none. */
export type ItemOrNull = Item | null;

export interface ItemPlaceAnswer {
  namespace: Array<string>;
  key: string;
}

export interface ItemsDeleted {
  /** Of this call. */
  matched: number;
  deleted: number;
  /** Some of them, at most 20. */
  items: Array<ItemPlaceAnswer>;
  /** There may be more than these. */
  more: boolean;
}

export interface Job {
  job_id: string;
  kind: string;
  status: "running" | "done" | "failed";
  /** While it runs: `working`, `waiting` for its turn or for the next run, or `interrupted`, where nothing was heard for a minute of the process that was at it: it ended without a word, or is at one long piece of work. The next run goes on, and gives up after 8 times in a row. */
  activity?: "waiting" | "working" | "interrupted";
  counts: { [name: string]: number };
  errors: Array<JobError>;
  asked_at: string;
  progress?: number;
  portion?: Portion;
  /** Of a job that erases a user. */
  erasure_id?: string;
  finished_at?: string;
  failures?: Array<FailureAnswer>;
  /** What is derived and a `reindex` leaves as it is. */
  unchanged?: Array<string>;
}

export type JobBody = JsonObject;

export interface JobError {
  error: string;
  count: number;
}

export interface JobsPage {
  jobs: Array<Job>;
  next_cursor?: string;
}

export interface KeptOrMissed {
  date: string;
  status: "completed" | "missed";
}

export interface KnowledgeEntry {
  namespace: string;
  key: string;
  value: unknown;
  version: number;
  updated_at: string;
  source?: "inferred";
}

export interface KnowledgeLearnt {
  stored: boolean;
  tool_call?: ManageKnowledgeCall;
  confirmation?: string;
}

export interface KnowledgePage {
  entries?: Array<KnowledgeEntry>;
  next_cursor?: string;
  prompt?: string;
}

export interface KnowledgeResolved {
  text: string;
  filter: string | null;
  replacements: Array<Replacement>;
  rules: Array<AppliedRule>;
  comments: Array<string>;
  diagnostics: ResolveDiagnostics;
}

export interface KnowledgeValue {
  /** In `vocabulary` {target, type?, description?, confidence?, source?}, in `rule` {condition, applies_to?, description?}, in `correction` {instruction, trigger}, each as an object or as its JSON text; in any other namespace any JSON of at most 16 KiB. */
  value: unknown;
}

export interface Lapse {
  by: string;
  start: number;
  end: number;
  since: string;
  until?: string;
  rule: string;
  announced?: boolean;
}

export interface LearnRequest {
  /** What the user said. */
  text: string;
  /** Absent: what is learnt holds in every store. */
  store?: string;
  /** Says what would be stored, and stores nothing. */
  dry_run?: boolean;
}

export interface LeftOutAnswer {
  id: string;
  section: "recent" | "semantic" | "important";
  reason: string;
  /** With `explain`: in one plain sentence, why it is here. It quotes the question. */
  because?: string;
  /** With `explain`: its first 300 characters. */
  content?: string;
  timestamp?: string;
  role?: "user" | "bot";
  speaker?: string;
}

export interface LineFault {
  line: number;
  message: string;
}

export interface ListNamespaces {
  /** `*` is any one label. */
  prefix?: Array<string>;
  suffix?: Array<string>;
  /** Longer ones are cut to so many labels, each shown once. */
  max_depth?: number;
  limit?: number;
  offset?: number;
}

export interface Log {
  conversation_id: string;
  entries: number;
  last_sequence: number;
  updated_at: string;
}

export interface LogAppend {
  entries: Array<LogDraft>;
  /** The branch that they come onto; absent: `main`. */
  branch?: string;
  /** The entry behind which the branch begins, where it is not there yet. */
  root?: number;
}

export interface LogAppended {
  sequence: number;
  status: "created" | "duplicate";
}

export interface LogAppendedEntries {
  results: Array<LogAppended>;
}

export interface LogBranch {
  name: string;
  root: number;
  parent: string;
}

/** Without `main`. */
export interface LogBranches {
  branches: Array<LogBranch>;
}

/** `payload` or `blob`. */
export interface LogDraft {
  /** Any JSON of at most 256 KiB. */
  payload?: unknown;
  /** Bytes, in base64. */
  blob?: string;
  role?: "user" | "assistant" | "tool" | "system" | "other";
  /** An entry of the same key that is there already is not appended again. */
  entry_key?: string;
}

export interface LogEntriesPage {
  entries: Array<LogEntry>;
  next_cursor?: string;
}

export interface LogEntry {
  sequence: number;
  at: string;
  /** null where the entry is a blob. */
  payload?: unknown;
  blob?: string;
  role?: "user" | "assistant" | "tool" | "system" | "other";
  entry_key?: string;
  /** Absent: `main`. */
  branch?: string;
  version?: number;
  edited_at?: string;
}

/** Another content; without `role` the entry has the one it had. */
export interface LogEntryPatch {
  /** Any JSON of at most 256 KiB. */
  payload?: unknown;
  /** Bytes, in base64. */
  blob?: string;
  role?: "user" | "assistant" | "tool" | "system" | "other";
}

export interface LogEntryVersions {
  versions: Array<LogEntry>;
  next_cursor?: string;
}

/** Without `entry` where the log has none. */
export interface LogPopped {
  entry?: LogEntry;
}

export interface LogsPage {
  logs: Array<Log>;
  next_cursor?: string;
}

export interface ManageKnowledgeCall {
  tool: "manage_knowledge";
  parameters: JsonObject;
}

/** A rule with its name and version; what it says stands beside them. */
export interface MatchedRule {
  name: string;
  version: number;
  /** The rule that it inherits from; what it says itself goes before. */
  extends?: string;
  /** The highest is asked first. Absent: 0. */
  priority?: number;
  /** Absent: true. */
  enabled?: boolean;
  /** All must hold for the candidate; of a list one; a range includes its ends. */
  conditions?: { userId?: string | Array<string>; personaId?: string | Array<string>; source?: string | Array<string>; importanceRange?: { min?: number; max?: number } };
  arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } };
  merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number };
  detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number };
}

export interface MemoriesDeleted {
  /** Of this call; where there is a `next_cursor`, there may be more. */
  matched: number;
  deleted: number;
  /** Some of them, at most 20. */
  memory_ids: Array<string>;
  next_cursor?: string;
}

export interface MemoriesMerged {
  /** Absent in a replay where it was deleted since. */
  memory?: Memory;
  /** What took the other one in; absent in a replay where it was taken back since. */
  decision?: Decision;
}

export interface MemoriesPage {
  memories: Array<Memory>;
  next_cursor?: string;
}

export interface Memory {
  id: string;
  user_id: string;
  persona_id?: string;
  household_id?: string;
  agent_id?: string;
  app_id?: string;
  namespace?: Array<string>;
  content: string;
  importance: number;
  source: "user" | "conversation" | "skill" | "system" | "inferred";
  keywords: Array<string>;
  timestamp: string;
  key?: string;
  status: "active" | "superseded" | "merged" | "retracted" | "expired" | "rejected";
  valid_from: string;
  valid_to?: string;
  recorded_at: string;
  superseded_by?: string;
  source_event_ids: Array<string>;
  origin: "event" | "direct" | "merged";
  expires_at?: string;
  metadata: JsonObject;
  embedding_id?: string;
  lapses?: Array<Lapse>;
  settled_by?: string;
  version: number;
}

export interface MemoryHistory {
  history: Array<MemoryVersion>;
}

export interface MemoryMerge {
  /** The memory that is taken up. */
  other: string;
  /** Its version, as it was read. */
  other_version: number;
  /** What the memory says then; absent: both texts, without what they have in common. */
  content?: string;
}

export interface MemoryPatch {
  /** Other words; those before stay in the history, and are found no longer. */
  content?: string;
  importance?: number;
  keywords?: Array<string>;
  /** Gone from every read from that instant on; null: never. */
  expires_at?: string | number | null;
  /** Replaces all of it. At most 16 KiB of JSON, 8 levels. */
  metadata?: JsonObject;
}

export interface MemoryRefused {
  refused: Array<string>;
}

/** The memory; of a replayed answer whose memory was deleted since, its id. */
export type MemorySaved = Memory | MemoryRefused;

export interface MemoryVersion {
  id: string;
  user_id: string;
  persona_id?: string;
  household_id?: string;
  agent_id?: string;
  app_id?: string;
  namespace?: Array<string>;
  content: string;
  importance: number;
  source: "user" | "conversation" | "skill" | "system" | "inferred";
  keywords: Array<string>;
  timestamp: string;
  key?: string;
  status: "active" | "superseded" | "merged" | "retracted" | "expired" | "rejected";
  valid_from: string;
  valid_to?: string;
  recorded_at: string;
  superseded_by?: string;
  source_event_ids: Array<string>;
  origin: "event" | "direct" | "merged";
  expires_at?: string;
  metadata: JsonObject;
  embedding_id?: string;
  lapses?: Array<Lapse>;
  settled_by?: string;
  version: number;
  at?: string;
  actor?: Actor;
  action?: "create" | "supersede" | "merge" | "patch" | "delete" | "reject" | "refuse" | "restore" | "revert" | "erase";
  via?: string;
  rule?: string;
  reason?: string;
}

export interface MergeAnswer {
  merged: StatementShown;
  statistics: MergeStatisticsShown;
}

export interface MergeRequest {
  first: GivenStatement;
  second: GivenStatement;
  options?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number };
}

/** A rule in its raw form; `resolved` is what it says with all that it inherits. */
export interface MergeRule {
  name: string;
  version: number;
  resolved: JsonObject;
  /** The rule that it inherits from; what it says itself goes before. */
  extends?: string;
  /** The highest is asked first. Absent: 0. */
  priority?: number;
  /** Absent: true. */
  enabled?: boolean;
  /** All must hold for the candidate; of a list one; a range includes its ends. */
  conditions?: { userId?: string | Array<string>; personaId?: string | Array<string>; source?: string | Array<string>; importanceRange?: { min?: number; max?: number } };
  arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } };
  merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number };
  detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number };
}

export interface MergeRuleChanges {
  extends?: string | null;
  priority?: number | null;
  enabled?: boolean | null;
  conditions?: { userId?: string | Array<string>; personaId?: string | Array<string>; source?: string | Array<string>; importanceRange?: { min?: number; max?: number } } | null;
  arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } } | null;
  merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number } | null;
  detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number } | null;
}

export interface MergeRuleDocument {
  /** The rule that it inherits from; what it says itself goes before. */
  extends?: string;
  /** The highest is asked first. Absent: 0. */
  priority?: number;
  /** Absent: true. */
  enabled?: boolean;
  /** All must hold for the candidate; of a list one; a range includes its ends. */
  conditions?: { userId?: string | Array<string>; personaId?: string | Array<string>; source?: string | Array<string>; importanceRange?: { min?: number; max?: number } };
  arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } };
  merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number };
  detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number };
}

export interface MergeRuleMatch {
  name: string;
  rule: MatchedRule;
}

export interface MergeRuleQuestion {
  candidate: Profile;
  /** No condition asks for it. */
  existing?: Profile | Profiles;
}

export interface MergeRulesImport {
  /** In any order; a name that is there is replaced. */
  rules: Array<{ name: string; extends?: string; priority?: number; enabled?: boolean; conditions?: { userId?: string | Array<string>; personaId?: string | Array<string>; source?: string | Array<string>; importanceRange?: { min?: number; max?: number } }; arbitration?: { priorityImportance?: boolean; priorityRecency?: boolean; prioritySource?: boolean; allowMerge?: boolean; mergeThreshold?: number; defaultStrategy?: "keep-candidate" | "keep-existing" | "reject"; weights?: { importance?: number; recency?: number; source?: number; semantic?: number } }; merge?: { contentStrategy?: "concatenate" | "replace" | "summarize" | "smart"; metadataStrategy?: { importance?: "max" | "boost" | "average"; timestamp?: "max"; keywords?: "union" | "intersection"; source?: "prefer-higher" }; boostAmount?: number; deduplicate?: boolean; deduplicationThreshold?: number }; detection?: { semanticThreshold?: number; keywordThreshold?: number; timeWindowMs?: number; importanceDelta?: number }; version?: number; resolved?: JsonObject }>;
  /** As an export has it; passed over. */
  version?: number;
}

export interface MergeRulesPage {
  version: number;
  rules: Array<MergeRule>;
  next_cursor?: string;
}

export interface MergeStatisticsShown {
  contentLength: number;
  keywordsCount: number;
  importanceDelta: number;
  deduplicatedCount: number;
}

export interface Message {
  role: "system" | "user" | "assistant";
  content: string | Array<TextBlock>;
}

export interface ModelUsage {
  /** Provider and model, as configured. */
  model: string;
  calls: number;
  /** As far as the provider says. */
  input_tokens: number;
  output_tokens: number;
}

export interface Namespaces {
  namespaces: Array<Array<string>>;
}

export interface NearMiss {
  id: string;
  content: string;
  timestamp: string;
  role: "user" | "bot";
  speaker?: string;
  source_event_ids: Array<string>;
  score: number;
  /** With `explain`: in one plain sentence, why it is here. It quotes the question. */
  because?: string;
}

export interface NewEvent {
  /** `assistant` is stored, shown and filtered by as `bot`; absent: `user`. What a tool or the system says belongs in the conversation's log. */
  role?: "user" | "bot" | "assistant";
  /** Name of who spoke. */
  speaker?: string;
  /** At most 64 KiB of UTF-8. */
  content: string;
  /** One of userpreference, factuallearning, contextualfact, default, userinput, assistantresponse; an unknown one is scored as `default`. Absent: `userinput`, for a bot `assistantresponse`. */
  content_type?: string;
  /** Absent: `conversation`. */
  event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom";
  /** Absent: `user`, for a bot `conversation`. */
  source?: "user" | "conversation" | "skill" | "system" | "inferred";
  /** When it was said; absent: now. Without a zone it is UTC. */
  timestamp?: string | number;
  /** Used as given, without boost; absent: scored by the rules. */
  importance?: number;
  /** The slot whose value this is: the newest event of a key is its value. */
  key?: string;
  space_id?: string;
  title?: string;
  category?: string;
  notes?: string;
  views?: number;
  /** Private events are listed and exported, and never found. */
  is_private?: boolean;
  /** False: it stays in the timeline and in its conversation's window, and nothing is derived of it: no memory, summary, goal or contradiction, and no search finds it. Without `key` and `embedding`. */
  derive?: boolean;
  /** A user has one event of it: a redelivery is a `duplicate` at whatever time and in whatever conversation, with another text, role or speaker `refused` (`key_reused`). */
  idempotency_key?: string;
  /** Gone from every read from that instant on. */
  expires_at?: string | number;
  /** The caller's own vector, of the embedder's dimension. */
  embedding?: Array<number>;
  /** At most 16 KiB of JSON, 8 levels. `source_id` names an importer's turn: with it, an event of the same time, conversation and role is a duplicate whatever its text. */
  metadata?: JsonObject;
}

export interface NewGoal {
  /** What the user wants to reach. */
  goal: string;
  /** Such as `daily`, in any words. */
  check_in_frequency?: string;
}

export interface NewMemory {
  agent_id?: string;
  app_id?: string;
  /** A path of at most 16 labels. */
  namespace?: Array<string>;
  /** Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`. */
  user_id?: string;
  /** Absent: the default persona. */
  persona_id?: string;
  household_id?: string;
  /** One thing worth remembering; at most 64 KiB of UTF-8. */
  content: string;
  /** The caller's own vector, of the embedder's dimension; absent: made here. */
  embedding?: Array<number>;
  /** Absent: 0.5. */
  importance?: number;
  /** Absent: `user`. */
  source?: "user" | "conversation" | "skill" | "system" | "inferred";
  keywords?: Array<string>;
  /** Since when it holds; absent: now. Without a zone it is UTC. */
  timestamp?: string | number;
  /** The slot whose value this is: the newest of a key is its value. */
  key?: string;
  /** Gone from every read from that instant on. */
  expires_at?: string | number;
  /** At most 16 KiB of JSON, 8 levels. */
  metadata?: JsonObject;
}

export interface PartReadiness {
  ready: boolean;
  detail: string;
  pending?: number;
}

/** How far the part of the work that is under way has come. */
export interface Portion {
  done: number;
  total: number;
  /** Of what, in the plural: records, messages, users. */
  of: string;
}

/** What `problems.problem` answers: every answer that is no good one. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors: Array<Fault>;
  conversation_id?: string;
  results?: Array<IngestResult>;
  input_event_id?: string;
}

/** A candidate that is only to be matched: whatever of it no condition asks for may be left out. */
export interface Profile {
  user_id: string;
  /** Of any length, the same for all; absent: no semantic signal. */
  embedding?: Array<number>;
  /** user, conversation, skill, system, inferred, from the most trusted on; any other word, or none, ranks last. */
  source?: string;
  keywords?: Array<string>;
  /** Absent: the default persona. */
  persona_id?: string;
  id?: string;
  content?: string;
  importance?: number;
  timestamp?: string | number;
}

export type Profiles = Array<Profile>;

export interface PutItem {
  /** At most 16 labels of 1,024 characters together, without dots. */
  namespace: Array<string>;
  key: string;
  /** A JSON object of at most 256 KiB; it replaces what was there. */
  value: JsonObject;
  /** Paths of the texts that are embedded; false: none. Absent: the whole document. */
  index?: Array<string> | boolean;
  /** Minutes until it ends; a read begins them anew. */
  ttl?: number;
  /** The user who owns it, so that erasing and exporting them reaches it. */
  user_id?: string;
  /** The application's own vectors, all of one length, instead of ours; compared with `query_vector`. */
  vectors?: Array<Array<number>>;
}

export interface PutOrDeleteItem {
  /** At most 16 labels of 1,024 characters together, without dots. */
  namespace: Array<string>;
  key: string;
  /** null deletes the item. */
  value: JsonObject | null;
  /** Paths of the texts that are embedded; false: none. Absent: the whole document. */
  index?: Array<string> | boolean;
  /** Minutes until it ends; a read begins them anew. */
  ttl?: number;
  /** The user who owns it, so that erasing and exporting them reaches it. */
  user_id?: string;
  /** The application's own vectors, all of one length, instead of ours; compared with `query_vector`. */
  vectors?: Array<Array<number>>;
  /** Only that version is replaced; 0: only where there is no item. */
  version?: number;
}

export interface QueryAnalysis {
  keywords: Array<string>;
  entities: Array<Entity>;
  intent: "question" | "command" | "statement" | "greeting";
  intent_confidence: number;
  context?: QueryContext;
}

export interface QueryContext {
  messages: number;
  keywords: Array<string>;
}

/** What a record said. */
export interface QuotedWords {
  /** All of it; of the record that counts, and of a conflict's, what holds now. */
  content: string;
  /** Of a long one the clauses that this is about, with … for the rest. */
  quote: string;
  timestamp: string;
}

export interface Readiness {
  ready: boolean;
  parts: { [name: string]: PartReadiness };
}

export interface ReconcileBody {
  /** Tries again, as if for the first time, all events that failed by their own fault, quarantined ones too. */
  replay?: boolean;
}

export interface ReindexBody {
  /** `events` drops everything derived and makes it again from the evidence. */
  from?: "vectors" | "events";
}

export interface Rejection {
  id: string;
  time: string;
  scope: RejectionScope;
}

export interface RejectionScope {
  user_id: string;
  persona_id?: string;
  household_id?: string;
}

export interface RejectionsPage {
  rejections: Array<Rejection>;
  next_cursor?: string;
}

export interface Replacement {
  key: string;
  term: string;
  target: string;
  count: number;
}

/** `winner`, or `both`, with `older` where that one is set right with it. */
export interface Resolution {
  /** The one of the two that counts. */
  winner?: string;
  /** True: both hold; the conflict is settled and no memory changes. */
  both?: boolean;
  /** With `both`: what the older one says from now on. `If-Match` names its version. */
  older?: string;
}

export interface ResolveDiagnostics {
  skipped: number;
  cut: boolean;
}

export interface ResolveRequest {
  text: string;
  /** The current store; its terms go before global ones. */
  store: string;
  /** The filter of the query so far; never read, only joined. */
  filter?: string;
  /** What the comments tell of. */
  comments?: "rules" | "all" | "none";
}

export interface RestoreBody {
  /** Or `timeline`: what compaction kept of the timelines. */
  snapshot_id: string;
  /** Only this user's; absent: everybody's. */
  user_id?: string;
}

export interface RetrievalStats {
  records_considered: number;
  records_matched: number;
  records_included: number;
  records_excluded_privacy: number;
  records_excluded_threshold: number;
  retrieval_time_ms: number;
  tokens: number;
  date_based_records: number;
  date_based_tokens: number;
  token_savings: number;
}

export interface RulesAnswer {
  version: string;
  rules: { scoring?: { base?: { [name: string]: number }; boost?: number; keywords?: Array<string> }; tags?: { [name: string]: Array<string> }; web_search?: { keywords?: Array<string>; patterns?: Array<string>; temporal?: Array<string> }; matching?: { word_boundary?: boolean }; context?: { total?: number; recent?: number; recent_fill?: number; semantic?: number; important?: number; displace_delta?: number; decay_half_life_days?: number | null }; summary?: { messages?: number; days?: number; raw_window?: number; max_words?: number }; bridge?: { enabled?: boolean; min_importance?: number; event_types?: Array<"conversation" | "task" | "reminder" | "emotion" | "preference" | "custom">; healthy_lag_ms?: number }; retention?: Array<{ older_than_days: number; event_types?: Array<"conversation" | "task" | "reminder" | "emotion" | "preference" | "custom"> | null; below_importance?: number | null; keep_keyed?: boolean; archive?: boolean }>; conflict?: { auto_apply?: "judged" | "all" | "off"; settle?: number; ask?: number; semantic_threshold?: number; keyword_threshold?: number; time_window_ms?: number; importance_delta?: number }; intent?: { enabled?: boolean; relevance_threshold?: number; max_results?: number; min_query_words?: number; max_keywords?: number; context_lookback?: number; allow_cross_space?: boolean; require_match?: boolean }; limits?: { index_capacity?: number | null; writes_per_second?: number | null; turns_per_second?: number | null }; logging?: { content?: boolean } };
  own: JsonObject;
  updated_at?: string;
  ignored?: Array<Fault>;
}

export interface RulesDocument {
  scoring?: { base?: { [name: string]: number }; boost?: number; keywords?: Array<string> };
  tags?: { [name: string]: Array<string> };
  web_search?: { keywords?: Array<string>; patterns?: Array<string>; temporal?: Array<string> };
  matching?: { word_boundary?: boolean };
  context?: { total?: number; recent?: number; recent_fill?: number; semantic?: number; important?: number; displace_delta?: number; decay_half_life_days?: number | null };
  summary?: { messages?: number; days?: number; raw_window?: number; max_words?: number };
  bridge?: { enabled?: boolean; min_importance?: number; event_types?: Array<"conversation" | "task" | "reminder" | "emotion" | "preference" | "custom">; healthy_lag_ms?: number };
  retention?: Array<{ older_than_days: number; event_types?: Array<"conversation" | "task" | "reminder" | "emotion" | "preference" | "custom"> | null; below_importance?: number | null; keep_keyed?: boolean; archive?: boolean }>;
  conflict?: { auto_apply?: "judged" | "all" | "off"; settle?: number; ask?: number; semantic_threshold?: number; keyword_threshold?: number; time_window_ms?: number; importance_delta?: number };
  intent?: { enabled?: boolean; relevance_threshold?: number; max_results?: number; min_query_words?: number; max_keywords?: number; context_lookback?: number; allow_cross_space?: boolean; require_match?: boolean };
  limits?: { index_capacity?: number | null; writes_per_second?: number | null; turns_per_second?: number | null };
  logging?: { content?: boolean };
}

export interface SearchAnswer {
  results: Array<SearchResult>;
  diagnostics: SearchDiagnostics;
  analysis?: QueryAnalysis;
  suggestion?: string;
  near_misses?: Array<SearchResult>;
}

export interface SearchDiagnostics {
  matched_count: number;
  filtered_count: number;
  returned_count: number;
  dropped: { [name: string]: number };
  exact: boolean;
  missing: Array<string>;
  tail: number;
  tail_cut: boolean;
  pending: number;
  rules_version: string;
  duration_ms: number;
  fallback?: "timeline" | "lexical" | "date_based";
  fallback_reason?: "disabled" | "no_keywords" | "short_query" | "stop_words_only" | "no_content_keyword" | "error";
  stats?: RetrievalStats;
}

export interface SearchItems {
  namespace_prefix?: Array<string>;
  /** LangGraph's form: fields, `$eq $ne $gt $gte $lt $lte`. */
  filter?: JsonObject;
  /** The grammar of docs/filters.md; with `filter` both hold. */
  where?: JsonObject;
  /** What is looked for, by meaning. */
  query?: string;
  /** Compared with the application's own vectors of its length. */
  query_vector?: Array<number>;
  limit?: number;
  offset?: number;
  refresh_ttl?: boolean;
}

export interface SearchRequest {
  agent_id?: string;
  app_id?: string;
  /** Exactly this one. */
  namespace?: Array<string>;
  /** Absent, where an agent, an app or a namespace is named: nobody's, owned by `__shared__`. */
  user_id?: string;
  /** This one and all below it. */
  namespace_prefix?: Array<string>;
  /** The grammar of docs/filters.md; with `filters` both hold. */
  filter?: JsonObject;
  /** Absent: every persona. */
  persona_id?: string;
  /** Absent: every household. */
  household_id?: string;
  active_space_id?: string;
  /** Event time: what held then; windows, recency and relative times count from it. */
  as_of?: string | number;
  /** What the store knew then. */
  recorded_as_of?: string | number;
  include_superseded?: boolean;
  /** Adds `why` to each result; to a search and a context, the near misses. */
  explain?: boolean;
  /** This, or `vector`, or both. */
  query?: string;
  /** The caller's own vector, of the embedder's dimension. */
  vector?: Array<number>;
  /** Absent: 10; 3 in semantic mode. By intent at most 15. */
  top_k?: number;
  mode?: "hybrid" | "semantic" | "lexical" | "intent";
  /** Inclusive. Of a `vector` the cosine; of a `query` the embedder's calibrated similarity, at which 0.7 is related. Absent: 0.7 in semantic mode, else none. Not used by intent. */
  min_similarity?: number;
  /** A second stage reads question and hit together, of the 30 best, where the deployment has one: better, and some 200 ms of a core. Not used by intent. */
  rerank?: boolean;
  time_window?: GivenTimes;
  filters?: Filters;
  /** The conversation before it, oldest first. */
  history?: Array<string>;
}

export interface SearchResult {
  id: string;
  kind: "event" | "memory";
  content: string;
  score: number;
  timestamp: string;
  importance: number;
  source: "user" | "conversation" | "skill" | "system" | "inferred";
  source_event_ids: Array<string>;
  persona_id?: string;
  household_id?: string;
  agent_id?: string;
  app_id?: string;
  namespace?: Array<string>;
  speaker?: string;
  key?: string;
  space_id?: string;
  role?: "user" | "bot";
  conversation_id?: string;
  event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom";
  title?: string;
  tags?: Array<string>;
  keywords?: Array<string>;
  metadata?: JsonObject;
  status?: "active" | "superseded" | "merged" | "retracted" | "expired" | "rejected";
  superseded_by?: string;
  version?: number;
  valid_from?: string;
  valid_to?: string;
  note?: string;
  scores?: { [name: string]: number };
  /** With `explain`: in one plain sentence, why it is here. It quotes the question. */
  because?: string;
  why?: Why;
}

export interface Sentence {
  text: string;
  source_event_ids: Array<string>;
  /** An open conflict is about what it says: perhaps no longer so. */
  in_doubt?: boolean;
}

export interface SignalAnswer {
  type: "warning" | "healthy";
  suspended: boolean;
  event_id?: string;
  forwarded?: boolean;
}

export interface SignalRequest {
  /** A warning suspends automatic promotion, healthy resumes it. */
  type: "warning" | "healthy";
  /** Who tells. */
  source: string;
  /** Such as low, high; absent: medium. */
  severity?: string;
  /** Such as write latency; no contents. */
  reason?: string;
}

export interface SnapshotAnswer {
  id: string;
  created_at: string;
  counts: { [name: string]: number };
  user_id?: string;
}

export interface SnapshotBody {
  /** Only this user; absent: everybody. */
  user_id?: string;
}

export interface SnapshotsPage {
  snapshots: Array<SnapshotAnswer>;
  next_cursor?: string;
}

export interface StandsFor {
  id: string;
  timestamp: string;
}

export interface StatementShown {
  id: string;
  user_id: string;
  persona_id?: string;
  content: string;
  embedding?: Array<number>;
  importance: number;
  timestamp: string;
  source?: string;
  keywords: Array<string>;
}

export interface SummariesPage {
  summaries: Array<Summary>;
  next_cursor?: string;
}

export interface Summary {
  id: string;
  persona_id?: string;
  conversation_id?: string;
  summary: string;
  sentences: Array<Sentence>;
  tracked_goals: Array<TrackedGoal>;
  message_count: number;
  covered_from: string;
  covered_until: string;
  created_at: string;
  reason: "messages" | "age" | "forced";
  model: string;
  source_event_ids: Array<string>;
}

/** One was due. A replayed answer reads the summary as it is now, and names it where it is gone. */
export interface SummaryMade {
  due: boolean;
  reason?: "messages" | "age" | "forced";
  messages_since?: number;
  days_since?: number;
  summary?: Summary | null;
  refused?: Array<string>;
}

export interface TextBlock {
  text: string;
}

export interface ToolCallsAnswer {
  protocol: "abp" | "vcp" | "text";
  calls: Array<CallShown>;
  text: string;
  warnings: Array<string>;
  statistics: ToolStatistics;
  results?: Array<ToolResult>;
}

export interface ToolCallsRequest {
  agent_id?: string;
  app_id?: string;
  /** A path of at most 16 labels. */
  namespace?: Array<string>;
  /** What the model wrote. */
  text: string;
  /** Whose memory the tools work on; needed with `execute`. */
  user_id?: string;
  persona_id?: string;
  household_id?: string;
  /** What the calls store is said in it; absent: in a new one. */
  conversation_id?: string;
  /** VCP is tried where no ABP block holds a request. */
  dual?: boolean;
  /** Refuses a block whose end marker is missing. */
  strict?: boolean;
  /** Makes the calls, in order, the first 50 of them. */
  execute?: boolean;
}

export interface ToolResult {
  tool: string;
  ok: boolean;
  status: "done" | "unknown_tool" | "invalid_parameters" | "not_found" | "refused" | "conflict" | "unavailable" | "failed";
  message: string;
  result?: JsonObject;
  errors?: Array<Fault>;
}

export interface ToolStatistics {
  abp_ok: number;
  abp_failed: number;
  vcp_fallback: number;
  plain_text: number;
}

export interface TrackedGoal {
  goal: string;
  status: "active" | "completed" | "abandoned";
  history: Array<KeptOrMissed>;
  check_in_frequency?: string;
}

export interface TurnAnswer {
  conversation_id: string;
  response: string | null;
  input_event_id: string;
  response_event_id: string | null;
  tool_calls: Array<TurnToolCall>;
  model?: string;
  context?: ContextAnswer;
  refused?: Array<string>;
  quoted_calls?: number;
}

export interface TurnRequest {
  agent_id?: string;
  app_id?: string;
  /** A path of at most 16 labels. */
  namespace?: Array<string>;
  /** Of prompt and messages each by itself. */
  token_budget?: number;
  /** How many tokens the memories of `messages` may take. */
  memory_tokens?: number;
  /** Of `prompt`, where they differ from the rules. */
  limits?: ContextLimits;
  web_search?: "auto" | "always" | "never";
  /** Whose vocabulary and rules are meant. */
  store?: string;
  /** A second stage reads the best hits for `messages`, where the deployment has one. */
  rerank?: boolean;
  user_id: string;
  /** Absent: stored for the default persona. */
  persona_id?: string;
  /** Absent: stored for no household. */
  household_id?: string;
  /** Absent: a new one, named in the answer. */
  conversation_id?: string;
  /** What the user says. */
  input: string;
  /** Adds `why` to each result; to a search and a context, the near misses. */
  explain?: boolean;
}

export interface TurnToolCall {
  tool: string;
  status: string;
  ok?: boolean;
  message?: string;
  parameters?: JsonObject;
  action?: string;
  result?: JsonObject;
  errors?: Array<Fault>;
}

export interface Usage {
  /** The month of now, in UTC, such as 2026-11. */
  month: string;
  this_month: Used;
  /** The first day that has a count; absent before there is one. */
  since?: string;
  /** Since that day. */
  whole: Used;
  /** That of the stack, by which its cost is estimated; absent where no stack answers. */
  search_engine?: "table" | "domain";
}

export interface Used {
  /** Events and saved memories that were new. */
  messages: number;
  searches: number;
  contexts: number;
  /** Their messages and contexts are not counted by themselves. */
  turns: number;
  models: Array<ModelUsage>;
}

export interface User {
  user_id: string;
}

export interface UsersPage {
  users: Array<User>;
  next_cursor?: string;
}

export interface Verdict {
  action: "keep" | "merge" | "reject";
  confidence: number;
  reason: string;
  strategy: "importance" | "recency" | "source" | "multi-factor" | "default" | "none";
  winner?: string;
  loser?: string;
  merged?: StatementShown;
}

export interface WebSearch {
  triggered: boolean;
  keywords: Array<string>;
  skipped?: string;
  results?: Array<string>;
  failed?: boolean;
}

/** Where a result replaces older records, those are named: rank and signals may be of one of them. */
export interface Why {
  place: number;
  arms: { [name: string]: number };
  /** What each signal adds to the score. */
  shares: { [name: string]: number };
  /** By name: `similarity`, closeness in meaning, 0 to 1; `cosine`, closeness in meaning, as the vectors have it; `weighted_similarity`, closeness in meaning, rare words counting more; `distinct_similarity`, closeness in meaning, without what all that was found shares; `bm25`, words of the question, rare ones counting more; `exchange_words`, words of the question, here and in what was said around it; `named_date`, said on a date that the question names; `named_speaker`, said by the one whom the question names; `said_by_user`, said by the user, not by the assistant; `exchange`, how well the best line of its exchange matches; `beside`, how well the best line right beside it matches; `recent`, matches, and was said lately; `outdone`, a newer line says something like it (lowers); `renewed`, says something like an older line anew; `relevance`, how much it is needed for the answer; `keyword_match`, share of the question's words that it holds; `recency`, how new it is. */
  signals: { [name: string]: number };
  stands_for?: Array<StandsFor>;
}
