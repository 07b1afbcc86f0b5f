import { Result } from "effect"
import { refusal, type ScanProblem } from "./ScanProblem.ts"

const pointerStart = "version https://git-lfs.github.com/spec/"

/** The text of a configuration file without a byte order mark, or the reason it is unreadable. */
export const configText = (bytes: Uint8Array): Result.Result<string, ScanProblem> => {
  const decoded = Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  if (Result.isFailure(decoded)) {
    return Result.fail(refusal("invalid_utf8", "The file is not valid UTF-8. Save it as UTF-8."))
  }
  const text = decoded.success
  if (text.startsWith(pointerStart)) {
    return Result.fail(
      refusal(
        "lfs_pointer",
        "The file is a Git LFS pointer, not the configuration itself. Store configuration files in Git directly.",
        1
      )
    )
  }
  const nul = text.indexOf("\0")
  if (nul !== -1) {
    return Result.fail(
      refusal("nul_character", "The file holds a NUL character.", text.slice(0, nul).split("\n").length)
    )
  }
  return Result.succeed(text)
}
