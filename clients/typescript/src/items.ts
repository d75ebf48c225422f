import type { Operations } from "./operations.js";
import type { FoundItem, Item, ItemBatch, ItemBatchResult, JsonObject, ListNamespaces, PutItem, SearchItems } from "./schemas.js";
import type { RequestOptions } from "./transport.js";

/** Labels from the outermost on. */
export type Namespace = readonly string[];

/** Exact JSON documents of an application at a namespace and a key. */
export class Items {
  constructor(private readonly api: Operations) {}

  /** The item; null where there is none. A read begins its lifetime anew, unless `refresh` is false. */
  async get(namespace: Namespace, key: string, refresh = true, options?: RequestOptions): Promise<Item | null> {
    const asked = refresh ? {} : { refresh_ttl: "false" as const };
    return this.api.getItem({ namespace: namespace.join("."), key, ...asked }, options);
  }

  /** Puts the whole document in place of what was there, with `ifMatch` only of that version. */
  put(
    namespace: Namespace,
    key: string,
    value: JsonObject,
    more: Omit<PutItem, "namespace" | "key" | "value"> = {},
    options?: RequestOptions,
  ): Promise<void> {
    return this.api.putItem({ ...more, namespace: [...namespace], key, value }, options);
  }

  /** Deletes it, where it is there. */
  delete(namespace: Namespace, key: string, options?: RequestOptions): Promise<void> {
    return this.api.deleteItem({ namespace: [...namespace], key }, options);
  }

  /** What lies below a prefix: with a query the best first, else the newest. */
  async search(
    prefix: Namespace,
    how: Omit<SearchItems, "namespace_prefix"> = {},
    options?: RequestOptions,
  ): Promise<FoundItem[]> {
    return (await this.api.searchItems({ ...how, namespace_prefix: [...prefix] }, options)).items;
  }

  /** The namespaces that have items, sorted. */
  async namespaces(which: ListNamespaces = {}, options?: RequestOptions): Promise<string[][]> {
    return (await this.api.listItemNamespaces(which, options)).namespaces;
  }

  /** Several operations in one request: one result each, in order. */
  async batch(operations: ItemBatch["operations"], options?: RequestOptions): Promise<ItemBatchResult[]> {
    return (await this.api.batchItems({ operations }, options)).results;
  }
}
