import type { ReleasedFile } from "../../src/dashboard/Release.ts"

/** What the generated `dist/dashboard/Embedded.ts` exports, for a test that imports one from a temporary folder. */
export interface EmbeddedModule {
  readonly embedded: ReadonlyArray<ReleasedFile>
}
