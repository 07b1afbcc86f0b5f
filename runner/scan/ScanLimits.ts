import { Context, Duration } from "effect"

/**
 * Bounds of a scan. A file over its limit makes the modules that need it unsupported; exceeding a limit of the whole scan fails
 * the scan.
 */
export interface ScanLimitValues {
  /** Size of one configuration file in bytes; the largest known real-world file is 130 KiB. */
  readonly fileBytes: number
  /** Brackets and blocks open at once; real files reach 31, and the parser's process crashes near 2,500. */
  readonly nesting: number
  /** Time that the parser may spend on one file. */
  readonly fileDeadline: Duration.Duration
  /** Number of configuration files in one scan. */
  readonly files: number
  /** Total size of all configuration files in one scan, in bytes. */
  readonly totalBytes: number
  /** Time for one whole scan. */
  readonly scanDeadline: Duration.Duration
  /** Module calls reachable from one module; each path of calls counts separately. */
  readonly moduleCalls: number
  /** Like `moduleCalls`, summed over all modules in a tree. */
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
