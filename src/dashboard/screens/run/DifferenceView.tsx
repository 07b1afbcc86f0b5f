import { useState } from "react"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import type { Segment } from "../../value-difference/Difference.ts"
import { type DrawnLine, linesOfPage } from "../../value-difference/DifferencePages.ts"
import { type OpenDifference, useDifference } from "../../value-difference/UseDifference.ts"
import { useWords } from "../../words/Words.ts"
import { differenceWords } from "./DifferenceWords.ts"

const Words = ({ segments }: { readonly segments: ReadonlyArray<Segment> }) =>
  segments.map(({ marked, text }, index) =>
    // Positions are stable keys, because the segments of a line keep their order.
    marked ? <mark key={index}>{text}</mark> : text
  )

interface LinesProps {
  readonly lines: ReadonlyArray<DrawnLine>
  readonly page: OpenDifference["page"]
}

const Fold = ({
  line,
  page
}: {
  readonly line: Extract<DrawnLine, { kind: "fold" }>
  readonly page: LinesProps["page"]
}) => {
  const words = useWords(differenceWords)
  const [lines, setLines] = useState<ReadonlyArray<DrawnLine>>([])
  const more = () => void page(lines.length, line.fold).then((next) => setLines([...lines, ...next.lines]))
  const left = Math.min(linesOfPage, line.length - lines.length)
  return (
    <details className="difference-fold" onToggle={(event) => event.currentTarget.open && lines.length === 0 && more()}>
      <summary>
        <Icon name="updown" />
        {words.unchanged(words.units[line.unit](line.count))}
        {line.unit === "lines" ? null : <span className="difference-faint">{words.units.lines(line.length)}</span>}
      </summary>
      <Lines lines={lines} page={page} />
      {lines.length === 0 || left === 0 ? null : (
        <Button small tone="quiet" onClick={more}>
          {words.more(left, words.units.lines(line.length))}
        </Button>
      )}
    </details>
  )
}

const Line = ({ line, page }: { readonly line: DrawnLine; readonly page: LinesProps["page"] }) => {
  const words = useWords(differenceWords)
  if (line.kind === "fold") return <Fold line={line} page={page} />
  if (line.kind === "path") return <div className="difference-path">{line.path.join(" › ")}</div>
  if (line.kind === "moved") {
    return (
      <div className="difference-path">
        {line.text} <span className="difference-tag">{words.moved(line.from, line.to)}</span>
      </div>
    )
  }
  const sign = line.kind === "removed" ? "−" : line.kind === "added" ? "+" : ""
  return (
    <div className={`difference-line difference-${line.kind}`}>
      <i>{line.kind === "added" ? "" : line.before}</i>
      <i>{line.kind === "removed" ? "" : line.after}</i>
      <u aria-hidden="true">{sign}</u>
      <span>
        {line.kind === "same" ? (
          line.text
        ) : (
          <>
            <span className="visually-hidden">{line.kind === "removed" ? words.removedLine : words.addedLine} </span>
            <Words segments={line.segments} />
          </>
        )}
      </span>
    </div>
  )
}

const Lines = ({ lines, page }: LinesProps) =>
  lines.map((line, index) => (
    // Positions are stable keys, because the lines of a diff keep their order.
    <Line key={index} line={line} page={page} />
  ))

const Head = ({ difference }: Pick<OpenDifference, "difference">) => {
  const words = useWords(differenceWords)
  const { extent, highlights, only, pathCount, paths, reading } = difference
  const isWhole = extent.total === 0 || extent.changed === 0
  const parts =
    only === undefined
      ? [
          ...(isWhole ? [] : [words.changed(extent.changed, words.units[extent.unit](extent.total))]),
          ...(extent.added === 0 ? [] : [words.added(extent.added)]),
          ...(extent.removed === 0 ? [] : [words.removed(extent.removed)])
        ]
      : [words.only[only]]
  return (
    <p className="difference-head">
      {reading === "words" ? null : <strong>{parts.join(", ")}</strong>}
      {highlights.map(({ after, before, name }, index) => (
        // Positions are stable keys, because the highlights of a value keep their order.
        <span key={index} className="difference-highlight">
          {name} <del>{before ?? words.nothing}</del>
          <span className="arrow"> → </span>
          <ins>{after ?? words.nothing}</ins>
        </span>
      ))}
      {reading === "words" ? null : <span className="difference-tag">{words.readings[reading]}</span>}
      {/* A single path stands above its lines. */}
      {pathCount < 2 ? null : (
        <span className="difference-paths">
          {paths.join(", ")}
          {pathCount > paths.length ? ` ${words.morePaths(pathCount - paths.length)}` : null}
        </span>
      )}
    </p>
  )
}

interface DifferenceViewProps {
  /** The address of the value's owner. */
  readonly of: string
  readonly name: string
  /** `undefined` if the value does not exist. */
  readonly before: unknown
  readonly after: unknown
  /** True if only one unchanged value is shown. */
  readonly unchanged?: boolean
}

/** The changes within a value, by structure, by lines or by words. */
export const DifferenceView = ({ after, before, name, of, unchanged = false }: DifferenceViewProps) => {
  const words = useWords(differenceWords)
  const open = useDifference(name, before, after)
  const [added, setAdded] = useState<ReadonlyArray<DrawnLine>>([])
  if (open === undefined) return <p className="difference-faint">{words.comparing}</p>
  const { difference, page } = open
  const lines = [...difference.lines, ...added]
  const left = Math.min(linesOfPage, difference.length - lines.length)
  const isWhole = unchanged || before === undefined || after === undefined
  return (
    <>
      {isWhole ? null : <Head difference={difference} />}
      <section className="difference" aria-label={words.difference(`${of} ${name}`)}>
        <Lines lines={lines} page={page} />
      </section>
      {left <= 0 ? null : (
        <Button small onClick={() => void page(lines.length).then((next) => setAdded([...added, ...next.lines]))}>
          {words.more(left, words.units.lines(difference.length))}
        </Button>
      )}
      {difference.reordered === 0 ? null : <p className="difference-faint">{words.reordered(difference.reordered)}</p>}
    </>
  )
}
