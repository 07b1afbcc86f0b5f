import type { OutputDifference, ResourceDifference } from "../../../schema/records/StateResource.ts"
import { instanceName } from "./StateEntries.ts"
import { AttributesJson, originOf, type OutputVersionRow, type ResourceVersionRow } from "./StateIndexRow.ts"

/** The two generations to compare. The comparison runs from `from` to `to`, which may be the earlier generation. */
export interface Compared {
  readonly from: number
  readonly to: number
}

/** Rows that are valid at only one of the two generations. */
interface Between<Row> {
  /** Rows valid only at the earlier generation. */
  readonly ended: ReadonlyArray<Row>
  /** Rows valid only at the later generation. */
  readonly begun: ReadonlyArray<Row>
}

interface Sides<Row> {
  readonly before: ReadonlyArray<Row>
  readonly after: ReadonlyArray<Row>
}

/** Orders the two sides in the direction of the comparison. */
export const differenceOf = <Row>({ from, to }: Compared, { begun, ended }: Between<Row>): Sides<Row> =>
  from <= to ? { before: ended, after: begun } : { before: begun, after: ended }

interface Pair<Row> {
  readonly name: string
  readonly before: Row | undefined
  readonly after: Row | undefined
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0

const pairs = <Row>({ after, before }: Sides<Row>, nameOf: (row: Row) => string): ReadonlyArray<Pair<Row>> => {
  const earlier = new Map(before.map((row) => [nameOf(row), row]))
  const later = new Map(after.map((row) => [nameOf(row), row]))
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .map((name) => ({ name, before: earlier.get(name), after: later.get(name) }))
    .toSorted(byName)
}

/** Returns the names of attributes that differ between two versions of a resource. */
export const changedAttributes = (
  before: Pick<ResourceVersionRow, "attributes">,
  after: Pick<ResourceVersionRow, "attributes">
): ReadonlyArray<string> => {
  const [earlier, later] = [AttributesJson.read(before.attributes), AttributesJson.read(after.attributes)]
  return [...new Set([...Object.keys(earlier), ...Object.keys(later)])]
    .filter((name) => earlier[name] !== later[name])
    .toSorted()
}

const shownInstance = ({ address, deposed, provider, tainted, type }: ResourceVersionRow) => ({
  address,
  type,
  provider,
  ...(deposed === "" ? {} : { deposed }),
  ...(tainted === 1 ? { tainted: true as const } : {})
})

/** Returns the name of an object, which stays the same after a move. */
const objectName = (row: ResourceVersionRow) => instanceName({ address: originOf(row), deposed: row.deposed })

/** A changed resource, with its sort key. */
export interface NamedDifference {
  readonly name: string
  readonly difference: ResourceDifference
}

/** Returns the change of each resource. Omits a resource whose changes were reverted. */
export const resourceDifferences = (sides: Sides<ResourceVersionRow>): ReadonlyArray<NamedDifference> =>
  pairs(sides, objectName)
    .flatMap(({ after, before, name: object }): ReadonlyArray<NamedDifference> => {
      const row = after ?? before
      // Several objects may have had the same address over time.
      const name = row === undefined ? object : [...new Set([instanceName(row), object])].join(" ")
      if (after === undefined) {
        return before === undefined ? [] : [{ name, difference: { ...shownInstance(before), change: "removed" } }]
      }
      if (before === undefined) return [{ name, difference: { ...shownInstance(after), change: "added" } }]
      const isSame = before.digest === after.digest && before.provider === after.provider
      if (before.address !== after.address) {
        const names = changedAttributes(before, after)
        const moved = { ...shownInstance(after), change: "moved" as const, previousAddress: before.address }
        return [{ name, difference: names.length === 0 ? moved : { ...moved, changedAttributes: names } }]
      }
      if (isSame) return []
      const difference = { ...shownInstance(after), change: "changed" as const }
      return [{ name, difference: { ...difference, changedAttributes: changedAttributes(before, after) } }]
    })
    .toSorted(byName)

/** Returns the change of each Output. */
export const outputDifferences = (sides: Sides<OutputVersionRow>): ReadonlyArray<OutputDifference> =>
  pairs(sides, ({ name }) => name).flatMap(({ after, before, name }): ReadonlyArray<OutputDifference> => {
    if (after === undefined) return [{ name, change: "removed" }]
    if (before === undefined) return [{ name, change: "added" }]
    return before.digest === after.digest ? [] : [{ name, change: "changed" }]
  })
