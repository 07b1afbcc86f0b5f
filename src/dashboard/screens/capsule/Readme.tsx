import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { readmeQuery } from "../../api/ReadmeQueries.ts"
import { sourceQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import type { ReadmePlace } from "../../readme/ReadmeLink.ts"
import { useReadme } from "../../readme/UseReadme.ts"
import { Empty, FaultNotice, Notice, Skeleton } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { Blocks } from "./ReadmeBlocks.tsx"
import { readmeWords } from "./ReadmeWords.ts"

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
