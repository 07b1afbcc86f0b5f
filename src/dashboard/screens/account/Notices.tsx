import { useQuery, useQueryClient } from "@tanstack/react-query"
import { noticesQuery } from "../../api/AccountQueries.ts"
import { post } from "../../api/Client.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import type { AccountNotice } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { profileWords } from "./ProfileWords.ts"
import { useDecision } from "../../ui/Decision.ts"

const AccountChanges = ({
  notices,
  newest
}: {
  readonly notices: ReadonlyArray<AccountNotice>
  readonly newest: string
}) => {
  const words = useWords(profileWords)
  const queryClient = useQueryClient()
  const see = useDecision({
    send: (signal) => post("/auth/notices/seen", { noticeId: newest }, { signal }),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: noticesQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      ])
  })
  return (
    <Notice tone="warn" title={words.noticesTitle}>
      <ul>
        {notices.map(({ id, kind, detail, createdAt }) => (
          <li key={id}>
            {words.notices[kind](detail ?? "")} <Time at={createdAt} />
          </li>
        ))}
      </ul>
      <p>{words.noticesText}</p>
      {see.error === null ? null : <FaultNotice error={see.error} />}
      <Button small busy={see.isPending} onClick={() => see.mutate()}>
        {words.noticesSeen}
      </Button>
    </Notice>
  )
}

/** Changes to the account. They are shown until the owner acknowledges them. */
export const Notices = () => {
  const { data = [] } = useQuery(noticesQuery)
  const [newest] = data
  return newest === undefined ? null : <AccountChanges notices={data} newest={newest.id} />
}
