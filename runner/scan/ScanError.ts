import { Schema } from "effect"

/** The scan as a whole exceeds a limit. There is no partial result, because a partial tree would hide providers. */
export class ScanLimitExceeded extends Schema.TaggedError<ScanLimitExceeded>()("ScanLimitExceeded", {
  limit: Schema.Literals(["files", "bytes", "time", "module_calls"]),
  maximum: Schema.Finite,
  message: Schema.String
}) {}

/** The parser could not be started. This says nothing about the module, which may be valid. */
export class HclParserUnavailable extends Schema.TaggedError<HclParserUnavailable>()("HclParserUnavailable", {
  message: Schema.String
}) {}

/** The path is not canonical, or the folder contains no configuration file. */
export class ModuleNotInTree extends Schema.TaggedError<ModuleNotInTree>()("ModuleNotInTree", {
  modulePath: Schema.String,
  message: Schema.String
}) {}
