import { Context, Duration } from "effect"

/**
 * Limits of a scan. If a file exceeds a limit, the modules that need this file are unsupported. If the scan as a whole
 * exceeds a limit, it fails.
 */
export interface ScanLimitValues {
  /** Maximum size of one configuration file in bytes. The largest known real file is 130 KiB. */
  readonly fileBytes: number
  /** Maximum number of open brackets and blocks. Real files reach 31, and the parser's process crashes at about 2,500. */
  readonly nesting: number
  /** Maximum time for parsing one file. */
  readonly fileDeadline: Duration.Duration
  /** Maximum number of configuration files in one scan. */
  readonly files: number
  /** Maximum total size of all configuration files in one scan, in bytes. */
  readonly totalBytes: number
  /** Maximum time for a complete scan. */
  readonly scanDeadline: Duration.Duration
  /**
   * Maximum number of module calls that one module reaches. If several paths of calls lead to the same call, it counts once
   * per path.
   */
  readonly moduleCalls: number
  /** Like `moduleCalls`, but for all modules of a tree combined. */
  readonly treeModuleCalls: number
}

const mebibyte = 1024 * 1024

export const defaultScanLimits: ScanLimitValues = {
  fileBytes: mebibyte,
  nesting: 200,
  fileDeadline: Duration.seconds(5),
  files: 2000,
  totalBytes: 16 * mebibyte,
  scanDeadline: Duration.seconds(60),
  moduleCalls: 1000,
  treeModuleCalls: 20_000
}

export const ScanLimits = Context.Reference<ScanLimitValues>("svc/runner/scan/ScanLimits", {
  defaultValue: () => defaultScanLimits
})
