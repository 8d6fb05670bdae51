// Makes {{component}} of gate.js and what it imports.

import { componentize } from "componentize-qjs";
import { readFile, writeFile } from "node:fs/promises";

const { component } = await componentize({
  witPath: "wit",
  world: "powers",
  jsSource: await readFile("gate.js", "utf8"),
  jsPath: `${import.meta.dirname}/gate.js`,
  moduleRoot: import.meta.dirname,
  // A gate answers at once: the host has nothing to wait for.
  sync: true,
});
await writeFile("{{component}}", component);
