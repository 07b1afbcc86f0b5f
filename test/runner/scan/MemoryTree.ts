import { Effect } from "effect"
import { type OmittedEntry, SourceFileUnreadable, type SourceTree } from "../../../runner/snapshot/SourceTree.ts"

const encoder = new TextEncoder()

/** Creates an in-memory tree with the given files. `reads` counts the reads of each file. */
export const memoryTree = (
  contents: Readonly<Record<string, string | Uint8Array>>,
  omitted: ReadonlyArray<OmittedEntry> = []
): SourceTree & { readonly reads: Map<string, number> } => {
  const reads = new Map<string, number>()
  const files = new Map(
    Object.entries(contents).map(([path, content]) => [
      path,
      typeof content === "string" ? encoder.encode(content) : content
    ])
  )
  return {
    reads,
    omitted,
    files: [...files].map(([path, bytes]) => ({ path, sizeBytes: bytes.byteLength, executable: false })),
    read: (path) => {
      const bytes = files.get(path)
      if (bytes === undefined) return Effect.fail(new SourceFileUnreadable({ path, message: "no such file" }))
      reads.set(path, (reads.get(path) ?? 0) + 1)
      return Effect.succeed(bytes)
    }
  }
}
