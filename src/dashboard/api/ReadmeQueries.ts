import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { sourcesFile } from "./Endpoints.ts"
import { Fault } from "./Fault.ts"

/** Common spellings of the file name, most frequent first. */
const names = ["README.md", "readme.md", "Readme.md", "README.markdown", "README"]

export type FoundReadme =
  | { readonly status: "found"; readonly path: string; readonly text: string }
  | { readonly status: "none" | "tooLarge" | "unreadable" }

const isFault = (fault: unknown, status: number) => fault instanceof Fault && fault.status === status

/** The README of a module in a snapshot. The README never changes. */
export const readmeQuery = (sourceId: string, sourceSnapshotId: string, modulePath: string) =>
  queryOptions({
    queryKey: ["source", sourceId, "readme", sourceSnapshotId, modulePath],
    queryFn: async ({ signal }): Promise<FoundReadme> => {
      for (const name of names) {
        const path = modulePath === "." || modulePath === "" ? name : `${modulePath}/${name}`
        const found = await call(sourcesFile, { params: { sourceId, sourceSnapshotId }, query: { path }, signal }).then(
          ({ text }): FoundReadme => ({ status: "found", path, text }),
          (fault: unknown): FoundReadme => {
            if (isFault(fault, 404)) return { status: "none" }
            if (isFault(fault, 413)) return { status: "tooLarge" }
            if (isFault(fault, 400)) return { status: "unreadable" }
            throw fault
          }
        )
        if (found.status !== "none") return found
      }
      return { status: "none" }
    },
    staleTime: Number.POSITIVE_INFINITY
  })
