// The entry point of a worker thread. The package of the parser exports no path of its file, but has it in a fixed place.
import { createRequire } from "node:module"
import { serveParser } from "./ParserThread.ts"

serveParser(createRequire(import.meta.url).resolve("@cdktn/hcl2json/main.wasm.gz"))
