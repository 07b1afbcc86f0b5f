import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { pullRequestQuery } from "../../api/PullRequestQueries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useWords } from "../../words/Words.ts"
import { changeReviewWords } from "./ChangeReviewWords.ts"

/** A link to the pull request of a Run, with its title if the title is known. */
export const PullRequestLink = ({ id }: { readonly id: string }) => {
  const words = useWords(changeReviewWords)
  const workspace = useWorkspace()
  const { data } = useQuery(pullRequestQuery(id))
  return (
    <p>
      <Link
        to="/w/$workspace/pull-requests/$pullRequestId"
        params={{ workspace: workspace.handle, pullRequestId: id }}
        data-testid="pull-request-link"
      >
        {words.pullRequest(data?.number)} <bdi>{data?.title}</bdi>
      </Link>
    </p>
  )
}
