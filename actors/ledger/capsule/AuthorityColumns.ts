/**
 * A Capsule column that carries authority.
 * - `fenced`: the column belongs to `capsules`, and the fence compares it; other columns only affect the guard
 * - `ofRun`: the Run column that recorded the value when the Run was created
 */
interface AuthorityColumn {
  readonly column: string
  readonly fenced: boolean
  readonly ofRun?: string
}

/**
 * Columns that carry authority. The guard that clients read, the fence that protects every change, and `authorityMoved` are all
 * derived from this list. The guard is a digest of the values in this order, so adding a column invalidates every guard that
 * clients hold.
 */
export const authorityColumns = [
  { column: "id", fenced: true },
  { column: "status", fenced: true },
  // Not fenced, because the value changes whenever a Run finishes: a fence would reject the Run's own settlement. The guard
  // must include the value.
  { column: "runtime_safety", fenced: false },
  { column: "execution_authority_epoch", fenced: true, ofRun: "execution_authority_epoch" },
  { column: "install_config_id", fenced: true, ofRun: "install_config_id" },
  // Not fenced, because the value comes from the configuration, which never changes under the same id.
  { column: "install_config_digest", fenced: false },
  { column: "current_state_version_id", fenced: true },
  { column: "current_state_generation", fenced: true, ofRun: "base_state_generation" }
] as const satisfies ReadonlyArray<AuthorityColumn>

type Value = string | number | null
type Listed = (typeof authorityColumns)[number]
type GuardedColumn = Listed["column"]
type FencedColumn = Extract<Listed, { readonly fenced: true }>["column"]
type Recorded = Extract<Listed, { readonly ofRun: string }>

const isFenced = (listed: Listed): listed is Extract<Listed, { readonly fenced: true }> => listed.fenced
const isRecorded = (listed: Listed): listed is Recorded => "ofRun" in listed

/** The columns that the fence compares. */
export const fenceColumns: ReadonlyArray<FencedColumn> = authorityColumns.filter(isFenced).map(({ column }) => column)

/** Formats the columns for the guard's digest. */
export const guardText = (row: Readonly<Record<GuardedColumn, Value>>): string =>
  JSON.stringify(authorityColumns.map(({ column }) => row[column]))

/** The first epoch of every Capsule, before the Capsule's authority is first replaced. */
export const firstEpoch = 1

/** Returns true if the Capsule's configuration or state has changed since the Run was created. */
export const authorityMoved = (
  run: Readonly<Record<Recorded["ofRun"], Value>>,
  capsule: Readonly<Record<Recorded["column"], Value>>
): boolean =>
  authorityColumns.filter(isRecorded).some(({ column, ofRun }) => {
    // A Run without an epoch matches only the first epoch (specification, Re-adoption of an InstallConfig).
    const missing = column === "execution_authority_epoch" ? firstEpoch : null
    return (run[ofRun] ?? missing) !== capsule[column]
  })
