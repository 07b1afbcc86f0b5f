import { readmeTree } from "./ReadmeTree.ts"

// Runs in its own worker, which stops with the page that uses it: parsing untrusted text may take a long time, or recurse too
// deeply.
self.addEventListener("message", ({ data }: MessageEvent<string>) => self.postMessage(readmeTree(data), {}))
