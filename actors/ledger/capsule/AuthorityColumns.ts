/**
 * One column of a Capsule that carries authority.
 *
 * - `fenced`: it is a column of `capsules` that every change compares; the others are part of the guard only
 * - `ofRun`: the column of a Run that holds the value the Run was created for
 */
interface AuthorityColumn {
  readonly column: string
  readonly fenced: boolean
  readonly ofRun?: string
}

/**
 * The columns of authority. Three things derive from this list: the guard that clients read, the fence of every change, and
 * whether a Capsule has moved since a Run was created for it. The guard is a digest over the values in this order, and clients
 * hold guards: a new column invalidates every guard read so far.
 */
export const authorityColumns = [
  { column: "id", fenced: true },
  { column: "status", fenced: true },
  // It changes when Runs finish, which the guard must reflect; a fence that included it would refuse the settlement of its own
  // Run.
  { column: "runtime_safety", fenced: false },
  { column: "execution_authority_epoch", fenced: true, ofRun: "execution_authority_epoch" },
  { column: "install_config_id", fenced: true, ofRun: "install_config_id" },
  // From the configuration, which is immutable for a given id.
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

/** The columns included in the guard's digest. */
export const guardText = (row: Readonly<Record<GuardedColumn, Value>>): string =>
  JSON.stringify(authorityColumns.map(({ column }) => row[column]))

/** The epoch of a Capsule that nothing has replaced the authority of. */
export const firstEpoch = 1

/** True if the Capsule's configuration or state has changed since the Run was created for it. */
export const authorityMoved = (
  run: Readonly<Record<Recorded["ofRun"], Value>>,
  capsule: Readonly<Record<Recorded["column"], Value>>
): boolean =>
  authorityColumns.filter(isRecorded).some(({ column, ofRun }) => {
    // A plan without an epoch is tolerated at the first one only (specification, Re-adoption of an InstallConfig).
    const missing = column === "execution_authority_epoch" ? firstEpoch : null
    return (run[ofRun] ?? missing) !== capsule[column]
  })
