import { readmeTree } from "./ReadmeTree.ts"

// Runs in a separate worker that stops with its page, because parsing untrusted text may take a long time or recurse too
// deeply.
self.addEventListener("message", ({ data }: MessageEvent<string>) => self.postMessage(readmeTree(data), {}))
