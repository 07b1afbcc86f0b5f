import type { ReactNode } from "react"
import { Brand } from "../ui/Mark.tsx"

interface FrameProps {
  readonly title: string
  readonly about: string
  readonly children?: ReactNode
}

export const Frame = ({ title, about, children }: FrameProps) => {
  return (
    <main className="entrance" id="content">
      <div className="entrance-card">
        <div className="brand entrance-brand">
          <Brand />
        </div>
        <h1>{title}</h1>
        <p className="entrance-about">{about}</p>
        {children}
      </div>
    </main>
  )
}
