import type { ReactNode } from "react"
import { Brand } from "../ui/Mark.tsx"

interface FrameProps {
  readonly title: string
  readonly about: string
  readonly children?: ReactNode
}

export const Frame = ({ title, about, children }: FrameProps) => {
  return (
    <main className="signed-out" id="content">
      <div className="signed-out-card">
        <div className="brand signed-out-brand">
          <Brand />
        </div>
        <h1>{title}</h1>
        <p className="signed-out-about">{about}</p>
        {children}
      </div>
    </main>
  )
}
