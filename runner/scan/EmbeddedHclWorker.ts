// Entry point of the worker thread in a compiled binary, which embeds the parser.
import wasm from "@cdktn/hcl2json/main.wasm.gz" with { type: "file" }
import { serveParser } from "./ParserThread.ts"

serveParser(wasm.startsWith("./") ? new URL(wasm, import.meta.url) : wasm)
