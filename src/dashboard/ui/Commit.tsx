import { commitLink } from "../../../schema/git/CommitLink.ts"
import type { CommitDescription } from "../../../schema/records/Commit.ts"
import { shortCommit } from "../words/Format.ts"
import { useWords } from "../words/Words.ts"
import { commitWords } from "./CommitWords.ts"
import { CopyText } from "./CopyText.tsx"
import { Icon } from "./Icon.tsx"
import { Time } from "./Time.tsx"

interface CommitProps {
  /** The full commit id. */
  readonly id: string
  readonly description?: CommitDescription | undefined
}

/** Isolated, so that the direction of untrusted text does not affect the following text. */
const Title = ({ description }: Pick<CommitProps, "description">) =>
  description === undefined || description.title === "" ? null : <bdi className="commit-title">{description.title}</bdi>

const Author = ({ description }: Pick<CommitProps, "description">) => {
  const words = useWords(commitWords)
  if (description?.authorName === undefined && description?.authoredAt === undefined) return null
  return (
    <span className="muted commit-author">
      {description.authorName === undefined ? null : <bdi>{words.by(description.authorName)}</bdi>}{" "}
      {description.authoredAt === undefined ? null : <Time at={description.authoredAt} />}
    </span>
  )
}

/** A commit in a row or a sentence: its short id, first line, author and time. It has no controls. */
export const CommitLine = ({
  id,
  description,
  withAuthor = true
}: CommitProps & {
  /** `false` if an adjacent column shows a different person and time. */
  readonly withAuthor?: boolean
}) => (
  <span className="commit-line">
    <code>{shortCommit(id)}</code> <Title description={description} />{" "}
    {withAuthor ? <Author description={description} /> : null}
  </span>
)

/**
 * The commit of a record, with the full commit message. A click copies the commit id, and a link opens the commit at the
 * forge if the Git address identifies a forge.
 */
export const Commit = ({
  id,
  description,
  gitAddress
}: CommitProps & {
  /** The Git address of the Source. */
  readonly gitAddress?: string | undefined
}) => {
  const words = useWords(commitWords)
  const link = gitAddress === undefined ? undefined : commitLink(gitAddress, id)
  return (
    <div className="commit" data-testid="commit">
      <Title description={description} />
      <div className="commit-facts">
        <CopyText text={id} shown={shortCommit(id)} />
        {link === undefined ? null : (
          <a href={link} target="_blank" rel="noreferrer noopener" aria-label={words.open(shortCommit(id))}>
            <Icon name="external" />
          </a>
        )}
        <Author description={description} />
      </div>
      {description?.body === undefined ? null : (
        <details>
          <summary>{words.rest}</summary>
          <p className="commit-body" dir="auto">
            {description.body}
          </p>
        </details>
      )}
    </div>
  )
}
