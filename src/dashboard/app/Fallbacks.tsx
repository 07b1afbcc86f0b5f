import { type ErrorComponentProps, useRouter } from "@tanstack/react-router"
import { Fault } from "../api/Fault.ts"
import { Button, LinkButton } from "../ui/Button.tsx"
import { Empty, FaultNotice, useTitle } from "../ui/Feedback.tsx"
import { useWords } from "../words/Words.ts"
import { appWords } from "./Words.ts"

export const NotFound = () => {
  const words = useWords(appWords)
  useTitle(words.notFoundTitle)
  return (
    <div className="page">
      <Empty whole icon="search" title={words.notFoundTitle} action={<LinkButton to="/">{words.goHome}</LinkButton>}>
        <p>{words.notFoundText}</p>
      </Empty>
    </div>
  )
}

export const Crash = ({ error, reset }: ErrorComponentProps) => {
  const words = useWords(appWords)
  const router = useRouter()
  useTitle(words.crashTitle)
  const retry = () => {
    reset()
    void router.invalidate()
  }
  if (error instanceof Fault && error.status === 404) return <NotFound />
  return (
    <main className="page" id="content">
      <Empty
        whole
        icon="warning"
        title={words.crashTitle}
        action={
          <Button tone="primary" icon="refresh" onClick={() => window.location.reload()}>
            {words.reload}
          </Button>
        }
      >
        <p>{words.crashText}</p>
        <FaultNotice error={error} onRetry={retry} />
      </Empty>
    </main>
  )
}
