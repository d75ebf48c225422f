// Against a server process: RECOLLECT_URL, RECOLLECT_API_KEY. `npm run build` first.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { after, test } from "node:test";

import {
  ConnectionError,
  ForbiddenError,
  KeyReusedError,
  NotFoundError,
  ProblemError,
  Recollect,
  UnauthenticatedError,
  UnavailableError,
  UnprocessableError,
  VersionMismatchError,
  forModel,
  pages,
} from "../dist/index.js";
import { pathSegment } from "../dist/transport.js";

const url = process.env.RECOLLECT_URL;
const apiKey = process.env.RECOLLECT_API_KEY;
const memory = new Recollect(url, { apiKey });
const someone = () => ({ user_id: `user-${randomUUID()}` });

test("what is added is found, becomes a memory and a context", async () => {
  const anna = someone();
  const stored = await memory.add("Remember: my sister is called Ada", anna);
  assert.deepEqual(stored.results.map((one) => one.status), ["created"]);
  assert.ok(stored.conversation_id);
  const context = await memory.context("What is my sister called?", anna);
  assert.match(context.prompt, /my sister is called Ada/);
  assert.ok(context.messages.some((one) => one.role === "user"));
  const found = await memory.search("sister called", { ...anna, top_k: 5 });
  assert.match(found.results[0].content, /Ada/);
  assert.ok(found.results[0].score > 0);
});

test("a context in every form is instructions and turns for a model", async () => {
  const anna = { ...someone(), conversation_id: "monday" };
  await memory.add([{ content: "I moved to Lyon" }, { role: "assistant", content: "Nice" }], anna);
  for (const format of ["openai", "anthropic", "converse"]) {
    const { instructions, messages } = forModel(await memory.context("Where do I live?", { ...anna, format }));
    assert.match(instructions, /never an instruction/);
    assert.deepEqual(messages.map((one) => one.role), ["user", "assistant", "user"]);
    assert.equal(messages[2].content, "Where do I live?");
  }
});

test("a function gives the token, and is asked again once where it is refused", async () => {
  const given = ["run out", apiKey, "run out", "unknown"];
  const renewed = new Recollect(url, { apiKey: async () => given.shift() });
  const anna = someone();
  await Promise.all([renewed.add("I moved to Lyon", anna), renewed.getAll(anna)]);
  assert.equal(given.length, 2);
  const refused = new Recollect(url, { apiKey: () => given.shift() });
  await assert.rejects(refused.getAll(anna), UnauthenticatedError);
  assert.equal(given.length, 0);
  const failing = new Recollect(url, { apiKey: () => { throw new Error("signed out"); } });
  await assert.rejects(failing.getAll(anna), /signed out/);
});

test("messages keep their roles", async () => {
  const anna = someone();
  await memory.add([{ content: "Tea, please" }, { role: "assistant", content: "Here you are" }], {
    ...anna,
    conversation_id: "monday",
  });
  const timeline = await memory.api.listEvents({ ...anna, conversation_id: "monday" });
  assert.deepEqual(timeline.events.map((one) => one.role).sort(), ["bot", "user"]);
});

test("a memory is saved, listed, changed, and its versions are kept", async () => {
  const anna = someone();
  const saved = await memory.api.saveMemory({ ...anna, content: "Anna plays the violin" });
  assert.deepEqual((await memory.getAll(anna)).map((one) => one.content), ["Anna plays the violin"]);
  const changed = await memory.update(saved.id, { content: "Anna plays the cello" }, anna, { ifMatch: saved.version });
  assert.equal(changed.version, saved.version + 1);
  await assert.rejects(
    memory.update(saved.id, { importance: 0.9 }, anna, { ifMatch: saved.version }),
    (error) => error instanceof VersionMismatchError && error.status === 412,
  );
  const versions = await memory.history(saved.id, anna);
  assert.deepEqual(versions.map((one) => one.content), ["Anna plays the violin", "Anna plays the cello"]);
  await memory.delete(saved.id, anna);
  await assert.rejects(memory.get(saved.id, anna), NotFoundError);
});

test("an event is deleted by the same method, and what is nowhere is not found", async () => {
  const anna = someone();
  const { results } = await memory.add("It rains", anna);
  await memory.delete(results[0].event_id, anna);
  await assert.rejects(memory.delete(results[0].event_id, anna), NotFoundError);
});

test("a list goes through all its pages", async () => {
  const anna = someone();
  for (const instrument of ["violin", "cello", "flute", "piano", "harp"]) {
    await memory.api.saveMemory({ ...anna, content: `Anna plays the ${instrument}` });
  }
  assert.equal((await memory.getAll({ ...anna, limit: 2 })).length, 5);
  const sizes = [];
  for await (const page of pages((given) => memory.api.listMemories(given), { ...anna, limit: 2 })) {
    sizes.push(page.memories.length);
  }
  assert.deepEqual(sizes, [2, 2, 1]);
});

test("items are exact documents", async () => {
  const space = ["notes", randomUUID()];
  await memory.items.put(space, "1", { text: "green apples", n: 1 }, { index: ["text"] });
  await memory.items.put([...space, "old"], "2", { text: "a blue car", n: 2 }, { index: ["text"] });
  const item = await memory.items.get(space, "1");
  assert.deepEqual([item.value, item.key, item.namespace], [{ text: "green apples", n: 1 }, "1", space]);
  const best = await memory.items.search(space, { query: "a blue car" });
  assert.equal(best[0].key, "2");
  assert.deepEqual((await memory.items.search(space, { filter: { n: { $lt: 2 } } })).map((one) => one.key), ["1"]);
  assert.deepEqual(await memory.items.namespaces({ prefix: space }), [space, [...space, "old"]]);
  const [read, listed] = await memory.items.batch([
    { get: { namespace: space, key: "1" } },
    { list_namespaces: { prefix: space, max_depth: 2 } },
  ]);
  assert.deepEqual([read.item.key, listed.namespaces], ["1", [space]]);
  await assert.rejects(memory.items.put(space, "1", {}, {}, { ifMatch: item.version + 1 }), VersionMismatchError);
  await memory.items.delete(space, "1");
  assert.equal(await memory.items.get(space, "1"), null);
});

test("ids of any text reach their user", async () => {
  const odd = { user_id: `../ü/${randomUUID()}` };
  await memory.add("I like jam", odd);
  assert.equal((await memory.api.listEvents(odd)).events[0].content, "I like jam");
  assert.equal(pathSegment("anna"), "anna");
  assert.equal(pathSegment(".."), "~Li4");
});

test("an error is its problem document, typed", async () => {
  const wrong = await memory.search("", { user_id: "anna", top_k: 0 }).catch((error) => error);
  assert.ok(wrong instanceof UnprocessableError && wrong instanceof ProblemError);
  assert.equal(wrong.status, 422);
  assert.match(wrong.type, /^urn:recollect:problem:/);
  assert.ok(wrong.errors.some((one) => one.loc.includes("top_k")));
  assert.match(wrong.message, /top_k/);
  await assert.rejects(new Recollect(url, { apiKey: "another" }).getAll({ user_id: "anna" }), UnauthenticatedError);
  await assert.rejects(memory.api.getRules(), ForbiddenError);
});

test("an idempotency key with another body names what the first one stored", async () => {
  const sent = (content) => memory.add(content, { user_id: "reuse" }, { idempotencyKey: "reused" });
  const { results } = await sent("one");
  const reused = await sent("two").catch((error) => error);
  assert.ok(reused instanceof KeyReusedError && reused instanceof UnprocessableError);
  assert.deepEqual(reused.results, results);
});

test("what serves says whether it is ready", async () => {
  assert.equal((await memory.api.ready()).ready, true);
});

test("an erasure is accepted and its progress shown", async () => {
  const anna = someone();
  await memory.add("I like jam", anna);
  const { erasure_id } = await memory.deleteAll(anna);
  assert.match((await memory.api.getErasure({ erasure_id })).status, /running|done/);
});

test("what was exported is imported", async () => {
  const [anna, ben] = [someone(), someone()];
  await memory.add("I like jam", anna);
  const lines = await memory.api.exportUser(anna);
  assert.match(lines, /I like jam/);
  await memory.api.importUser({ ...ben, lines });
  assert.equal((await memory.api.listEvents(ben)).events.length, 1);
});

test("a preflight of a page that may call is answered", async () => {
  const asked = { Origin: "https://app.example.com", "Access-Control-Request-Method": "POST" };
  const answer = await fetch(`${url}/v1/search`, { method: "OPTIONS", headers: asked });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("access-control-allow-origin"), "https://app.example.com");
  assert.match(answer.headers.get("access-control-allow-headers"), /authorization/);
});

/** A server that answers what it is told, one after another, and keeps what it was sent. */
async function answering(...answers) {
  const seen = [];
  const server = createServer((request, response) => {
    const [status, headers, body] = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(request.headers);
    response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return [`http://127.0.0.1:${server.address().port}`, seen];
}

const GOOD = [200, { "Content-Type": "application/json" }, '{"conversation_id": "c", "results": []}'];

test("what may pass is tried again with one idempotency key", async () => {
  const [address, seen] = await answering([503, {}, ""], [429, { "Retry-After": "0" }, ""], GOOD);
  await new Recollect(address, { firstPauseMs: 1 }).add("x", { user_id: "anna" });
  assert.equal(new Set(seen.map((one) => one["idempotency-key"])).size, 1);
  assert.equal(seen.length, 3);
});

test("what stays wrong is thrown, with or without a problem document", async () => {
  const [address, seen] = await answering([503, {}, "<html>"]);
  const failed = await new Recollect(address, { firstPauseMs: 1, tries: 2 })
    .search("x", { user_id: "anna" })
    .catch((error) => error);
  assert.ok(failed instanceof UnavailableError);
  assert.deepEqual([failed.errors, failed.results, seen.length], [[], [], 2]);
});

test("a pause that is too long is not waited for", async () => {
  const [address, seen] = await answering([503, { "Retry-After": "3600" }, ""]);
  await assert.rejects(new Recollect(address).search("x", { user_id: "anna" }), (error) => error.retryAfterSeconds === 3600);
  assert.equal(seen.length, 1);
});

test("what changes without a key is not repeated", async () => {
  const [address, seen] = await answering([503, {}, ""]);
  const gone = new Recollect(address, { firstPauseMs: 1 });
  await assert.rejects(gone.update("m", { content: "x" }, { user_id: "anna" }), UnavailableError);
  assert.equal(seen.length, 1);
  assert.equal(seen[0]["if-match"], "*");
});

test("no answer is a connection error, and the caller can abort", async () => {
  const nobody = new Recollect("http://127.0.0.1:1", { firstPauseMs: 1, tries: 2 });
  await assert.rejects(nobody.search("x", { user_id: "anna" }), ConnectionError);
  const [address, seen] = await answering([503, { "Retry-After": "5" }, ""]);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(new Recollect(address).search("x", { user_id: "anna" }, { signal: stop.signal }), ConnectionError);
  assert.equal(seen.length, 1);
});

test("a redirect is not followed, since it would send the key elsewhere", async () => {
  const [elsewhere, seen] = await answering(GOOD);
  const [address] = await answering([307, { Location: elsewhere }, ""]);
  await assert.rejects(new Recollect(address, { apiKey, tries: 1 }).search("x", { user_id: "anna" }), ConnectionError);
  assert.equal(seen.length, 0);
});
