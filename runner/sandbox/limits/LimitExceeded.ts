import type { RunLimitCode } from "../../../schema/records/RunConfinement.ts"

/** Describes the limit that a Run exceeded, for the Run's error. */
export interface LimitExceeded {
  readonly code: RunLimitCode
  readonly message: string
}

/** Limits for one Run. Sizes are in bytes. */
export interface RunBounds {
  readonly memoryBytes: number
  /** Number of processes and threads. */
  readonly processes: number
  readonly tmpBytes: number
  readonly shmBytes: number
  readonly folderBytes: number
  /** Space that Runs must leave free on the disk of the run folders. */
  readonly freeBytes: number
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]

/** Formats a size in the unit that results in a short number. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`
}

const raised = (setting: string) =>
  `Make the module need less, or have the operator raise ${setting} or the limit of the Run's execution profile.`

const described: Readonly<Record<RunLimitCode, (bounds: RunBounds) => string>> = {
  memory_limit: ({ memoryBytes }) =>
    `The Run used more memory than its limit of ${formatBytes(memoryBytes)} and was ended. ${raised("SVC_RUN_MEMORY")}`,
  process_limit: ({ processes }) =>
    `The Run started more processes and threads than its limit of ${processes} and was ended. ${raised("SVC_RUN_PROCESSES")}`,
  tmp_limit: ({ tmpBytes }) =>
    `The Run filled its /tmp, whose limit is ${formatBytes(tmpBytes)}, and was ended. ${raised("SVC_RUN_TMP")}`,
  shm_limit: ({ shmBytes }) =>
    `The Run filled its /dev/shm, whose limit is ${formatBytes(shmBytes)}, and was ended. ${raised("SVC_RUN_SHM")}`,
  folder_limit: ({ folderBytes }) =>
    `The Run wrote more into its folder than the limit of ${formatBytes(folderBytes)} and was ended. ${raised("SVC_RUN_FOLDER")}`,
  disk_low: ({ freeBytes }) =>
    `Less than ${formatBytes(freeBytes)} (SVC_RUN_FREE_DISK) were free on the disk of the Runs, and this Run held the most of it: it was ended so that the others can go on. Have the operator make room, then try again.`
}

export const limitExceeded = (code: RunLimitCode, bounds: RunBounds): LimitExceeded => ({
  code,
  message: described[code](bounds)
})
