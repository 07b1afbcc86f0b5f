import { Schema } from "effect"
import { itemsBetween, lengthBetween } from "./FieldRule.ts"
import { RelativeFolder, RelativePath } from "./RelativePath.ts"
import { withoutControlCharacters } from "./WithoutControlCharacters.ts"

/** A command as an argument vector, run without a shell in a folder of the Source (by default its root). */
export const SourceBuildCommand = Schema.Struct({
  argv: Schema.Array(Schema.String.check(lengthBetween(1, 4096), withoutControlCharacters)).check(itemsBetween(1, 32)),
  workingDirectory: Schema.optionalKey(RelativeFolder)
})
export type SourceBuildCommand = typeof SourceBuildCommand.Type

/**
 * A proposal for preparing the snapshot's checkout without credentials. `outputs` are the files or folders that the commands
 * must create.
 */
export const SourceBuild = Schema.Struct({
  commands: Schema.Array(SourceBuildCommand).check(itemsBetween(1, 8)),
  outputs: Schema.Array(RelativePath).check(itemsBetween(1, 16))
})
export type SourceBuild = typeof SourceBuild.Type
