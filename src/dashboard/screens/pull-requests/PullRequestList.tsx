import { Link } from "@tanstack/react-router"
import type { PullRequest } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Icon } from "../../ui/Icon.tsx"
import { Time } from "../../ui/Time.tsx"
import { shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { PullRequestState, VerdictCounts } from "./Verdicts.tsx"
import { pullRequestListWords } from "./Words.ts"

const states: ReadonlyArray<PullRequest["state"]> = ["open", "merged", "closed"]

/** Returns the state that the page's URL selects, or `undefined` if it selects all pull requests. The default is `open`. */
export const stateIn = (value: string | undefined): PullRequest["state"] | undefined =>
  value === "all" ? undefined : (states.find((state) => state === value) ?? "open")

export const StateFilter = ({
  state,
  onChange
}: {
  readonly state: PullRequest["state"] | undefined
  readonly onChange: (state: string) => void
}) => {
  const words = useWords(pullRequestListWords)
  const terms = useWords(vocabulary)
  return (
    <fieldset className="run-facets">
      <legend className="visually-hidden">{words.state}</legend>
      <div className="run-chips">
        {[...states, undefined].map((each) => (
          <button
            key={each ?? "all"}
            type="button"
            className="run-chip"
            aria-pressed={each === state}
            onClick={() => onChange(each ?? "all")}
          >
            {each === undefined ? terms.all : words.states[each]}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/**
 * A link to the pull request at its forge. Only http and https addresses become links, because the address comes from the
 * forge.
 */
export const ForgeLink = ({ of, text, url }: { readonly of: string; readonly text?: string; readonly url: string }) => {
  const words = useWords(pullRequestListWords)
  const terms = useWords(vocabulary)
  return !isWebAddress(url) ? null : (
    <a href={url} target="_blank" rel="noreferrer noopener" title={words.atForge}>
      {text}
      <Icon name="external" />
      <span className="visually-hidden">
        {text === undefined ? `${words.atForge}: ${of}` : ""} ({terms.opensNewTab})
      </span>
    </a>
  )
}

const Row = ({ pullRequest }: { readonly pullRequest: PullRequest }) => {
  const words = useWords(pullRequestListWords)
  const workspace = useWorkspace()
  const { author, baseBranch, counts, createdAt, draft, fork, headBranch, headCommit, number, state, title, url } =
    pullRequest
  const head = headBranch ?? shortCommit(headCommit)
  return (
    <li>
      <div className="row row-run">
        <span className="row-name row-stack">
          <span>
            <Link
              to="/w/$workspace/pull-requests/$pullRequestId"
              params={{ workspace: workspace.handle, pullRequestId: pullRequest.id }}
              data-run-row
            >
              #{number} <bdi>{title ?? headBranch ?? words.untitled}</bdi>
            </Link>{" "}
            {draft === true ? <span className="tag">{words.draft}</span> : null}{" "}
            {fork === "no" ? null : <span className="tag">{words.elsewhere}</span>}
          </span>
          <span className="muted">
            <bdi>{baseBranch === undefined ? head : words.into(head, baseBranch)}</bdi>
            {author === undefined ? null : (
              <>
                {" · "}
                <bdi>{words.by(author)}</bdi>
              </>
            )}
          </span>
        </span>
        <span className="row-commit">
          <code>{shortCommit(headCommit)}</code>
        </span>
        <span className="row-who names">
          <VerdictCounts counts={counts} />
        </span>
        <span className="row-end">
          {state === "open" ? null : <PullRequestState state={state} />}
          <Time at={createdAt} />
          {url === undefined ? null : <ForgeLink url={url} of={`#${number}`} />}
        </span>
      </div>
    </li>
  )
}

export const PullRequestList = ({ pullRequests }: { readonly pullRequests: ReadonlyArray<PullRequest> }) => (
  <ul className="rows rows-runs">
    {pullRequests.map((each) => (
      <Row key={each.id} pullRequest={each} />
    ))}
  </ul>
)
