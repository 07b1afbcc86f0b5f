/** One setting: a flag of `svc serve`, an environment variable and a key of the settings file. */
export interface SettingDefinition {
  readonly env: string
  /** Absent for values that must not appear in a process list. */
  readonly flag?: string
  readonly metavar: string
  readonly description: string
  readonly default?: string
}

/** Settings by name, in the order in which help lists them. */
export const define = <const K extends string>(definitions: Readonly<Record<K, SettingDefinition>>) => definitions
