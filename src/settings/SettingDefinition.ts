/** A setting, with its environment variable, its key in the settings file, and usually a flag of `svc serve`. */
export interface SettingDefinition {
  readonly env: string
  /** Absent for values that must not appear in a process list. */
  readonly flag?: string
  readonly metavar: string
  readonly description: string
  readonly default?: string
}

/** Defines settings by name, in the order of the help. */
export const define = <const K extends string>(definitions: Readonly<Record<K, SettingDefinition>>) => definitions
