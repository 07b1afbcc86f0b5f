import type { ReactNode } from "react"
import { Brand } from "../ui/Mark.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"

interface FrameProps {
  readonly title: string
  readonly about: string
  readonly children?: ReactNode
}

export const Frame = ({ title, about, children }: FrameProps) => {
  const words = useWords(vocabulary)
  return (
    <main className="entrance" id="content">
      <div className="entrance-card">
        <div className="brand entrance-brand">
          <Brand name={words.product} />
        </div>
        <h1>{title}</h1>
        <p className="entrance-about">{about}</p>
        {children}
      </div>
    </main>
  )
}
