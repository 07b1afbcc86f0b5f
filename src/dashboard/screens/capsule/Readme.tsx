import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { createElement, type ReactNode } from "react"
import { readmeQuery } from "../../api/ReadmeQueries.ts"
import { sourceQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { type ReadmePlace, readmeTarget } from "../../readme/ReadmeLink.ts"
import type { ReadmeBlock, ReadmeCell, ReadmeInline } from "../../readme/ReadmeTree.ts"
import { useReadme } from "../../readme/UseReadme.ts"
import { Empty, FaultNotice, Notice, Skeleton } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { readmeWords } from "./ReadmeWords.ts"

// Positions are stable keys, because a rendered README never changes.

const Target = ({
  address,
  children,
  place
}: {
  readonly address: string
  readonly children: ReactNode
  readonly place: ReadmePlace | undefined
}) => {
  const terms = useWords(vocabulary)
  const target = place === undefined ? undefined : readmeTarget(address, place)
  return target === undefined ? (
    children
  ) : (
    <a href={target} target="_blank" rel="noreferrer noopener">
      {children}
      <span className="visually-hidden">({terms.opensNewTab})</span>
    </a>
  )
}

/** Images are not fetched, because fetching an external image would reveal who reads the README. */
const Picture = ({
  address,
  place,
  text
}: {
  readonly address: string
  readonly text: string
  readonly place: ReadmePlace | undefined
}) => {
  const words = useWords(readmeWords)
  return (
    <Target address={address} place={place}>
      <span className="readme-image">
        <Icon name="external" />
        {words.image(text)}
      </span>
    </Target>
  )
}

interface PartProps {
  readonly part: ReadmeInline
  /**
   * The base URL for resolving addresses. Absent within a link: a badge is an image in a link, and links cannot be nested.
   */
  readonly place: ReadmePlace | undefined
}

const Part = ({ part, place }: PartProps): ReactNode => {
  switch (part.kind) {
    case "text":
      return part.text
    case "code":
      return <code>{part.text}</code>
    case "break":
      return <br />
    case "strong":
      return (
        <strong>
          <Parts parts={part.parts} place={place} />
        </strong>
      )
    case "emphasis":
      return (
        <em>
          <Parts parts={part.parts} place={place} />
        </em>
      )
    case "deleted":
      return (
        <del>
          <Parts parts={part.parts} place={place} />
        </del>
      )
    case "link":
      return (
        <Target address={part.address} place={place}>
          <Parts parts={part.parts} place={undefined} />
        </Target>
      )
    case "image":
      return <Picture address={part.address} text={part.text} place={place} />
  }
}

const Parts = ({ parts, place }: { readonly parts: ReadmeCell } & Pick<PartProps, "place">) =>
  parts.map((part, index) => <Part key={`${index} ${part.kind}`} part={part} place={place} />)

const Table = ({
  place,
  table
}: {
  readonly table: Extract<ReadmeBlock, { readonly kind: "table" }>
  readonly place: ReadmePlace
}) => (
  <table>
    <thead>
      <tr>
        {table.head.map((cell, index) => (
          <th key={`${index} head`} scope="col">
            <Parts parts={cell} place={place} />
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {table.rows.map((row, index) => (
        <tr key={`${index} row`}>
          {row.map((cell, column) => (
            <td key={`${column} cell`}>
              <Parts parts={cell} place={place} />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

const Block = ({ block, place }: { readonly block: ReadmeBlock; readonly place: ReadmePlace }): ReactNode => {
  switch (block.kind) {
    case "heading":
      // Starts at the third level, because the page itself uses the first two.
      return createElement(`h${Math.min(block.depth + 2, 6)}`, undefined, <Parts parts={block.parts} place={place} />)
    case "paragraph":
      return (
        <p>
          <Parts parts={block.parts} place={place} />
        </p>
      )
    case "code":
      return <pre>{block.text}</pre>
    case "rule":
      return <hr />
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} place={place} />
        </blockquote>
      )
    case "table":
      return <Table table={block} place={place} />
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={`${index} item`}>
          {item.checked === undefined ? null : <span aria-hidden="true">{item.checked ? "☑ " : "☐ "}</span>}
          <Blocks blocks={item.blocks} place={place} />
        </li>
      ))
      return block.start === undefined ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
  }
}

const Blocks = ({ blocks, place }: { readonly blocks: ReadonlyArray<ReadmeBlock>; readonly place: ReadmePlace }) =>
  blocks.map((block, index) => <Block key={`${index} ${block.kind}`} block={block} place={place} />)

const Content = ({ place, text }: { readonly place: ReadmePlace; readonly text: string }) => {
  const words = useWords(readmeWords)
  const tree = useReadme(text)
  if (tree === undefined) return <Skeleton rows={6} />
  if (tree === null) return <Notice tone="info">{words.unreadable}</Notice>
  return (
    <div className="readme" data-testid="readme" dir="auto">
      <Blocks blocks={tree.blocks} place={place} />
      {tree.isCut ? <Notice tone="info">{words.cut}</Notice> : null}
    </div>
  )
}

type Revision = NonNullable<Capsule["adoptedSourceRevision"]>

const joined = (...parts: ReadonlyArray<string>) => parts.filter((part) => part !== "" && part !== ".").join("/")

const OfCommit = ({ capsule, revision }: { readonly capsule: Capsule; readonly revision: Revision }) => {
  const words = useWords(readmeWords)
  const source = useQuery(sourceQuery(capsule.sourceId)).data
  const { data, error } = useQuery(readmeQuery(capsule.sourceId, revision.sourceSnapshotId, capsule.modulePath))
  if (error !== null) return <FaultNotice error={error} />
  if (data === undefined || source === undefined) return <Skeleton rows={6} />
  if (data.status === "none")
    return (
      <Empty icon="source" title={words.none}>
        {words.noneText}
      </Empty>
    )
  if (data.status !== "found") return <Notice tone="info">{words[data.status]}</Notice>
  const place = {
    gitAddress: source.url,
    commit: revision.resolvedCommit,
    folder: joined(revision.path, capsule.modulePath)
  }
  return (
    <Panel title={words.title} about={words.about(data.path, shortCommit(revision.resolvedCommit))}>
      <Content key={data.path} place={place} text={data.text} />
    </Panel>
  )
}

/** The module's README at the adopted commit: untrusted text, so its HTML and images are not rendered. */
export const Readme = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(readmeWords)
  const revision = capsule.adoptedSourceRevision
  return revision === undefined ? (
    <Empty icon="source" title={words.notAdopted}>
      {words.notAdoptedText}
    </Empty>
  ) : (
    <OfCommit capsule={capsule} revision={revision} />
  )
}
