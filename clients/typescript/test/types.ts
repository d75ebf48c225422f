// Compiled and never run: what the types let through, and what they refuse.
import { Recollect, type ContextAnswer, type Memory, type ProblemError } from "../dist/index.js";

export async function used(memory: Recollect, error: ProblemError): Promise<string[]> {
  const context: ContextAnswer = await memory.context("Where?", { user_id: "anna", token_budget: 500 });
  const memories: Memory[] = await memory.getAll({ user_id: "anna", status: "superseded" });
  const decisions = await memory.api.listDecisions({ user_id: "anna" });
  return [context.prompt, ...memories.map((one) => one.content), String(decisions.arbitrations.length), error.type];
}

export async function refused(memory: Recollect): Promise<void> {
  // @ts-expect-error an id is a text
  await memory.search("Where?", { user_id: 7 });
  // @ts-expect-error no such role
  await memory.add([{ role: "tool", content: "x" }], { user_id: "anna" });
  // @ts-expect-error no such option
  await memory.context("Where?", { user_id: "anna", tokens: 500 });
  // @ts-expect-error a version is a number or a text
  await memory.update("m", { content: "x" }, { user_id: "anna" }, { ifMatch: true });
}
