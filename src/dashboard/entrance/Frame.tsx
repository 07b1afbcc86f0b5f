import type { ReactNode } from "react"

interface FrameProps {
  readonly title: string
  readonly about: string
  readonly children?: ReactNode
}

export const Frame = ({ title, about, children }: FrameProps) => {
  return (
    <main className="entrance" id="content">
      <div className="entrance-card">
        <div className="entrance-mark" aria-hidden="true">
          <svg viewBox="0 0 32 32">
            <path d="M16 5.5 25.5 11v10L16 26.5 6.5 21V11zM6.9 11.2 16 16.4l9.1-5.2M16 16.4v9.8" />
          </svg>
        </div>
        <h1>{title}</h1>
        <p className="entrance-about">{about}</p>
        {children}
      </div>
    </main>
  )
}
