import { readmeTree } from "./ReadmeTree.ts"

// Runs in a separate worker, because parsing untrusted text may take a long time or recurse too deeply. The worker stops
// when its page is closed.
self.addEventListener("message", ({ data }: MessageEvent<string>) => self.postMessage(readmeTree(data), {}))
