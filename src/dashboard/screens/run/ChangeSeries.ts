import type { ResourceChange } from "../../api/Types.ts"
import { visibleText } from "../../../../schema/records/VisibleText.ts"
import { changeName } from "./PlanDiff.ts"

/** Changes that differ only in one index of their address, combined in one row: `aws_instance.web[0...399]`. */
export interface ChangeSeries {
  readonly address: string
  readonly changes: ReadonlyArray<ResourceChange>
}

/** Minimum number of changes in a series. Fewer changes are listed individually. */
const smallestSeries = 5
const rangesAtMost = 4

const lastIndex = /^(.*)\[(\d+)\]([^[\]]*)$/

interface Indexed {
  readonly change: ResourceChange
  readonly index: number
  readonly start: string
  readonly end: string
}

const indexed = (change: ResourceChange): Indexed | undefined => {
  const { deposed, importing, previousAddress } = change
  if (deposed !== undefined || importing !== undefined || previousAddress !== undefined) return undefined
  const found = lastIndex.exec(change.address)
  return found === null ? undefined : { change, index: Number(found[2]), start: found[1] ?? "", end: found[3] ?? "" }
}

/** A key that is the same for all changes that affect the same attributes in the same way. */
const shapeOf = ({ change, end, start }: Indexed): string =>
  JSON.stringify([
    start,
    end,
    change.actions,
    change.reason,
    change.tainted,
    change.changedAttributes.map(({ after, before, forcesReplacement, name, sensitive, unknown }) => [
      name,
      before === undefined,
      after === undefined,
      forcesReplacement,
      sensitive,
      unknown
    ])
  ])

const rangesOf = (indexes: ReadonlyArray<number>): string => {
  const ranges: Array<{ readonly from: number; to: number }> = []
  for (const index of indexes) {
    const last = ranges.at(-1)
    if (last !== undefined && index === last.to + 1) last.to = index
    else ranges.push({ from: index, to: index })
  }
  const texts = ranges.map(({ from, to }) => (to > from ? `${from}...${to}` : String(from)))
  return texts.length <= rangesAtMost ? texts.join(", ") : `${texts.slice(0, rangesAtMost).join(", ")}, ...`
}

/** Returns the rows of a group in the group's order. A series takes the position of its first change. */
export const rowsOf = (changes: ReadonlyArray<ResourceChange>): ReadonlyArray<ResourceChange | ChangeSeries> => {
  const byShape = new Map<string, Array<Indexed>>()
  const shapes = changes.map((change) => {
    const found = indexed(change)
    if (found === undefined) return undefined
    const shape = shapeOf(found)
    const members = byShape.get(shape)
    if (members === undefined) byShape.set(shape, [found])
    else members.push(found)
    return shape
  })
  return changes.flatMap((change, at): ReadonlyArray<ResourceChange | ChangeSeries> => {
    const members = byShape.get(shapes[at] ?? "") ?? []
    const [first] = members
    if (first === undefined || members.length < smallestSeries) return [change]
    if (first.change !== change) return []
    const inOrder = members.toSorted((one, other) => one.index - other.index)
    const ranges = rangesOf(inOrder.map(({ index }) => index))
    return [
      { address: visibleText(`${first.start}[${ranges}]${first.end}`), changes: inOrder.map((each) => each.change) }
    ]
  })
}

export const isSeries = (row: ResourceChange | ChangeSeries): row is ChangeSeries => "changes" in row

export const rowKey = (row: ResourceChange | ChangeSeries): string =>
  isSeries(row) ? `${row.address} ${row.changes.length}` : `${changeName(row)} ${row.actions.join()}`
