/** The amount of work in the simulated year. */
export interface YearSize {
  readonly days: number
  /** Days in a month. The figures are collected, and the checks run, at the end of each month. */
  readonly month: number
  readonly workspaces: number
  readonly sourcesPerWorkspace: number
  readonly capsulesPerSource: number
  /** Hours between two turns of the background work on an ordinary day. */
  readonly turnHours: number
  /** Days between two pushes to a Source. */
  readonly pushEvery: number
  /**
   * Days between two environments. Each environment is created for one change, and destroyed when the next environment is
   * created.
   */
  readonly previewEvery: number
  /** Retention period, in days, of everything that has a retention setting. */
  readonly keep: number
  readonly keepAudit: number
  /**
   * The month after which the installation stops growing: by then every retained record has been replaced once, including
   * the ten states of each Capsule.
   */
  readonly levelFrom: number
  /** Days between two backups of the installation. */
  readonly backupEvery: number
}

/** One year of data for 200 Capsules. */
export const wholeYear: YearSize = {
  days: 365,
  month: 30,
  workspaces: 4,
  sourcesPerWorkspace: 2,
  capsulesPerSource: 25,
  turnHours: 4,
  pushEvery: 10,
  previewEvery: 5,
  keep: 60,
  keepAudit: 60,
  levelFrom: 7,
  backupEvery: 30
}

/** The short form, which takes a minute: the same kinds of work, but less of each and with shorter periods. */
export const shortYear: YearSize = {
  days: 50,
  month: 10,
  workspaces: 2,
  sourcesPerWorkspace: 1,
  capsulesPerSource: 4,
  turnHours: 12,
  pushEvery: 4,
  previewEvery: 4,
  keep: 10,
  keepAudit: 30,
  levelFrom: 4,
  backupEvery: 30
}
