export * from "./errors.js";
export { Items, type Namespace } from "./items.js";
export { forModel, type Turn } from "./messages.js";
export * from "./operations.js";
export { Recollect, pages, type Said, type Whose } from "./recollect.js";
export type * from "./schemas.js";
export type { ClientOptions, RequestOptions } from "./transport.js";
