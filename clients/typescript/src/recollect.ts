import { NotFoundError } from "./errors.js";
import { Items } from "./items.js";
import { Operations } from "./operations.js";
import type { ListMemoriesArguments } from "./operations.js";
import type {
  ContextAnswer,
  ContextRequest,
  ErasureAccepted,
  EventsAnswer,
  EventsRequest,
  Memory,
  MemoryPatch,
  MemoryVersion,
  NewEvent,
  SearchAnswer,
  SearchRequest,
} from "./schemas.js";
import { type ClientOptions, type RequestOptions, Transport } from "./transport.js";

/** Whose memory, and which part of it. */
export interface Whose {
  user_id: string;
  persona_id?: string;
  household_id?: string;
}

/** What was said: a text of the user, or messages with `role` and `content` and what else an event has. */
export type Said = string | readonly NewEvent[];

/**
 * Long-term memory behind a URL. Its everyday methods; `api` has one for each operation of the server, `items` exact
 * documents of an application. Every method throws ProblemError where the answer is an error, and ConnectionError where
 * none comes, both after the retries.
 */
export class Recollect {
  readonly api: Operations;
  readonly items: Items;

  constructor(url: string, options: ClientOptions = {}) {
    this.api = new Operations(new Transport(url, options));
    this.items = new Items(this.api);
  }

  /** Stores 1 to 100 messages: one result each. What matters of them becomes a memory; `search` finds all. */
  add(said: Said, whose: Omit<EventsRequest, "events">, options?: RequestOptions): Promise<EventsAnswer> {
    const events: NewEvent[] = typeof said === "string" ? [{ role: "user", content: said }] : [...said];
    return this.api.addEvents({ ...whose, events }, options);
  }

  /** Hits for a query, best first. */
  search(query: string, how: Omit<SearchRequest, "query">, options?: RequestOptions): Promise<SearchAnswer> {
    return this.api.search({ ...how, query }, options);
  }

  /** The context for the next call of a model with this input: `prompt`, or `messages` for its API. */
  context(input: string, how: Omit<ContextRequest, "input">, options?: RequestOptions): Promise<ContextAnswer> {
    return this.api.buildContext({ ...how, input }, options);
  }

  /** One memory. Throws NotFoundError. */
  get(memoryId: string, whose: Whose, options?: RequestOptions): Promise<Memory> {
    return this.api.getMemory({ ...whose, memory_id: memoryId }, options);
  }

  /** The memories that hold now, newest first, through all pages; with another `status` those. */
  async getAll(which: ListMemoriesArguments, options?: RequestOptions): Promise<Memory[]> {
    const found: Memory[] = [];
    const asked: ListMemoriesArguments = { status: "active", ...which };
    for await (const page of pages((given) => this.api.listMemories(given, options), asked)) {
      found.push(...page.memories);
    }
    return found;
  }

  /** Changes what is given of a memory, with `ifMatch` only that version; its history keeps the older ones. */
  update(memoryId: string, changes: MemoryPatch, whose: Whose, options?: RequestOptions): Promise<Memory> {
    return this.api.patchMemory({ ...whose, memory_id: memoryId, ...changes }, options);
  }

  /** Deletes a memory with the events it was made from, or an event. Throws NotFoundError. */
  async delete(id: string, whose: Whose, options?: RequestOptions): Promise<void> {
    try {
      await this.api.deleteMemory({ ...whose, memory_id: id }, options);
    } catch (error) {
      if (!(error instanceof NotFoundError)) {
        throw error;
      }
      await this.api.deleteEvent({ ...whose, event_id: id }, options);
    }
  }

  /** Erases the user everywhere; `getErasure` of `api` says how far it is. */
  deleteAll(whose: { user_id: string }, options?: RequestOptions): Promise<ErasureAccepted> {
    return this.api.eraseUser(whose, options);
  }

  /** Every version of a memory, oldest first. */
  async history(memoryId: string, whose: Whose, options?: RequestOptions): Promise<MemoryVersion[]> {
    return (await this.api.memoryHistory({ ...whose, memory_id: memoryId }, options)).history;
  }
}

/** The pages of a list, one call each: `for await (const page of pages((given) => memory.api.listEvents(given), {…}))`. */
export async function* pages<Given extends { cursor?: string }, Page extends { next_cursor?: string }>(
  list: (given: Given) => Promise<Page>,
  given: Given,
): AsyncGenerator<Page, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await list(cursor === undefined ? given : { ...given, cursor });
    yield page;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
}
