// The entry point of a worker thread. The parser's package does not export the path of its file, but that path never changes
// within the package.
import { createRequire } from "node:module"
import { serveParser } from "./ParserThread.ts"

serveParser(createRequire(import.meta.url).resolve("@cdktn/hcl2json/main.wasm.gz"))
