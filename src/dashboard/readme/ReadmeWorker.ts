import { readmeTree } from "./ReadmeTree.ts"

// Runs in a worker of its own, which ends with the page that reads it: a stranger's text may take the parser long, or too deep.
self.addEventListener("message", ({ data }: MessageEvent<string>) => self.postMessage(readmeTree(data), {}))
