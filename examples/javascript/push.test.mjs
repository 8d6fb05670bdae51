import assert from "node:assert/strict";
import test from "node:test";

import { forcedPush, isProtected } from "./push.js";
import { decoded } from "./utf8.js";

/// The branches that `git LINE` rewrites; `?` in the line is a word that is not known.
const branches = (line) =>
  forcedPush(
    line.split(" ").map((word) => (word === "?" ? null : word)),
    "/project",
    (directory) => (directory === "/project" ? "topic" : "elsewhere"),
  );

test("without force nothing is rewritten", () => {
  for (const line of ["status", "push", "push origin main", "push -o force origin main", "push -u origin main", "log push -f"]) {
    assert.deepEqual(branches(line), [], line);
  }
});

test("every way to force is seen", () => {
  for (const line of [
    "--force origin main",
    "-f origin main",
    "-uf origin main",
    "origin +main",
    "origin +HEAD:main",
    "--force-with-lease=main origin main",
    "origin -f topic:refs/heads/main",
    "-f -- origin main",
  ]) {
    assert.deepEqual(branches(`push ${line}`), ["main"], line);
  }
});

test("without a name it is the branch that is checked out", () => {
  assert.deepEqual(branches("push -f"), ["topic"]);
  assert.deepEqual(branches("push -f origin HEAD"), ["topic"]);
  assert.deepEqual(branches("-C ../other push -f"), ["elsewhere"]);
});

test("what cannot be known is told apart", () => {
  for (const line of ["push -f origin ?", "--git-dir /x push -f", "push --mirror origin", "push -f --all", "push -f origin :"]) {
    assert.deepEqual(branches(line), [null], line);
  }
});

test("a tag is no branch", () => {
  assert.deepEqual(branches("push -f origin refs/tags/v1"), []);
});

test("a star stands for anything", () => {
  assert.ok(isProtected("release/1.0", ["main", "release/*"]));
  assert.ok(!isProtected("maintenance", ["main", "release/*", "."]));
});

test("files are read as UTF-8", () => {
  const bytes = (text) => new TextEncoder().encode(text);
  assert.equal(decoded(bytes("main\nüber/€/🚀")), "main\nüber/€/🚀");
  assert.equal(decoded(new Uint8Array([0x61, 0xff, 0x62, 0xe2, 0x82])), "a\ufffdb\ufffd\ufffd");
});
