// Entry point of a worker thread. The parser's package does not export the path of its file, so the path within the package is
// fixed here.
import { createRequire } from "node:module"
import { serveParser } from "./ParserThread.ts"

serveParser(createRequire(import.meta.url).resolve("@cdktn/hcl2json/main.wasm.gz"))
