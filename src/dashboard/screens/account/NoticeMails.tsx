import { useQuery, useQueryClient } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { noticesChooseMails } from "../../api/Endpoints.ts"
import { noticeMailsQuery } from "../../api/NoticeQueries.ts"
import type { NoticeKind } from "../../api/Types.ts"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { NoticeKindFields } from "../workspace/NoticeKindFields.tsx"
import { noticeWords } from "../workspace/NoticeWords.ts"

/** Selects the kinds of notices that the person receives by email. Each switch is saved immediately. */
export const NoticeMails = () => {
  const words = useWords(noticeWords)
  const queryClient = useQueryClient()
  const { data } = useQuery(noticeMailsQuery)
  const choose = useDecision({
    send: (signal, kinds: ReadonlyArray<NoticeKind>) => call(noticesChooseMails, { signal, body: { kinds } }),
    onSuccess: ({ noticeMails }) => {
      queryClient.setQueryData(noticeMailsQuery.queryKey, noticeMails)
      toast(words.mailsSaved)
    }
  })
  if (data === undefined) return null
  const chosen = choose.isPending ? (choose.variables ?? data.kinds) : data.kinds
  return (
    <Panel title={words.title} about={words.mailsAbout}>
      {data.sendsMail ? null : <Notice tone="info">{words.mailsOff}</Notice>}
      {choose.error === null ? null : <FaultNotice error={choose.error} />}
      <div className="form">
        <NoticeKindFields
          legend={words.mails}
          busy={choose.isPending}
          chosen={chosen}
          onChange={(kinds) => choose.mutate(kinds)}
        />
      </div>
    </Panel>
  )
}
