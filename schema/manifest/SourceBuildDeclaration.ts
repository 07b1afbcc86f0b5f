import { Schema } from "effect"
import { itemsBetween, lengthBetween } from "./FieldRule.ts"
import { RelativeFolder, RelativePath } from "./RelativePath.ts"
import { withoutControlCharacters } from "./WithoutControlCharacters.ts"

/** One command: an argument vector that never passes through a shell, run in a folder of the Source (root when absent). */
export const SourceBuildCommand = Schema.Struct({
  argv: Schema.Array(Schema.String.check(lengthBetween(1, 4096), withoutControlCharacters)).check(itemsBetween(1, 32)),
  workingDirectory: Schema.optionalKey(RelativeFolder)
})
export type SourceBuildCommand = typeof SourceBuildCommand.Type

/**
 * A credential-free proposal to prepare the checkout of the snapshot. `outputs` are the files or folders it must produce.
 */
export const SourceBuild = Schema.Struct({
  commands: Schema.Array(SourceBuildCommand).check(itemsBetween(1, 8)),
  outputs: Schema.Array(RelativePath).check(itemsBetween(1, 16))
})
export type SourceBuild = typeof SourceBuild.Type
