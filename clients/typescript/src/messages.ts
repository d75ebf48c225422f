import type { ContextAnswer, TextBlock } from "./schemas.js";

/** A turn of a conversation, as model libraries take it. */
export type Turn = { role: "user"; content: string } | { role: "assistant"; content: string };

/**
 * A context for libraries that take instructions apart from the turns, such as Vercel's AI SDK:
 * `generateText({ model, ...forModel(context) })`.
 */
export function forModel(context: ContextAnswer): { instructions: string; messages: Turn[] } {
  const apart = context.system === undefined ? [] : [text(context.system)];
  const said = context.messages.filter((one) => one.role === "system").map((one) => text(one.content));
  const turns = context.messages.filter((one) => one.role !== "system");
  return {
    instructions: [...apart, ...said].join("\n\n"),
    messages: turns.map((one) => ({ role: one.role as Turn["role"], content: text(one.content) })),
  };
}

function text(content: string | TextBlock[]): string {
  return typeof content === "string" ? content : content.map((one) => one.text).join("\n\n");
}
