import { Context, Duration } from "effect"

/**
 * Bounds of a scan. A file over its bound makes the modules that need it unsupported; exceeding a bound of the whole scan fails
 * it.
 */
export interface ScanLimitValues {
  /** Bytes of one configuration file; the largest known real one has 130 KiB. */
  readonly fileBytes: number
  /** Brackets and blocks open at once; real files reach 31, and the parser's process dies near 2,500. */
  readonly nesting: number
  /** The parser's time for one file. */
  readonly fileDeadline: Duration.Duration
  /** Configuration files of one scan. */
  readonly files: number
  /** Bytes of all configuration files of one scan. */
  readonly totalBytes: number
  /** One whole scan. */
  readonly scanDeadline: Duration.Duration
  /** Module calls reachable from one module; each path of calls counts separately. */
  readonly moduleCalls: number
  /** The same, summed over all modules of a tree. */
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

export const ScanLimits = Context.Reference<ScanLimitValues>("svc/scan/ScanLimits", {
  defaultValue: () => defaultScanLimits
})
