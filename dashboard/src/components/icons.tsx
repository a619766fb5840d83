// Icons and glyphs, drawn and not typed: no font has all of them in one size.
import type { ReactNode } from 'react'

const stroke = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.5,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const

const SHAPES = {
  diamond: <path d="M8 1.8 14.2 8 8 14.2 1.8 8z" fill="currentColor" />,
  lamp: <path d="M8 1.8 14.2 8 8 14.2 1.8 8z" className="lamp-glyph" />,
  bow: <path d="M2 3.2 8 7l6-3.8v9.6L8 9l-6 3.8z" fill="currentColor" />,
  loop: <path d="M12.6 5.2A5.4 5.4 0 1 0 13.4 8M13 2.2v3.4H9.6" {...stroke} />,
  dot: <circle cx="8" cy="8" r="4" fill="currentColor" />,
  ring: <circle cx="8" cy="8" r="4.2" {...stroke} strokeWidth={1.7} />,
  broken: <circle cx="8" cy="8" r="5" {...stroke} strokeDasharray="1.2 3" strokeWidth={1.8} />,
  check: <path d="m3.2 8.6 3 3 6.6-7" {...stroke} strokeWidth={1.8} />,
  cross: <path d="m4 4 8 8m0-8-8 8" {...stroke} strokeWidth={1.8} />,
  back: <path d="M6 3.6 2.6 7 6 10.4M3 7h6.4a3.4 3.4 0 0 1 0 6.8H7" {...stroke} />,
  pause: <path d="M5.4 3.4v9.2M10.6 3.4v9.2" {...stroke} strokeWidth={2.2} />,
  barred: <path d="M3.9 3.9l8.2 8.2M13.4 8A5.4 5.4 0 1 1 2.6 8a5.4 5.4 0 0 1 10.8 0z" {...stroke} />,
  stop: <rect x="3.4" y="3.4" width="9.2" height="9.2" rx="1" fill="currentColor" />,
  square: <rect x="3.6" y="3.6" width="8.8" height="8.8" rx="1" {...stroke} />,
  arrow: <path d="M2.6 8h10.4M9 4l4 4-4 4" {...stroke} />,
  eye: (
    <>
      <path d="M1.6 8S4 3.8 8 3.8 14.4 8 14.4 8 12 12.2 8 12.2 1.6 8 1.6 8z" {...stroke} />
      <circle cx="8" cy="8" r="1.9" {...stroke} />
    </>
  ),
  resume: <path d="M3.4 5.2a5.4 5.4 0 1 1-.8 2.8M3 2.2v3.4h3.4" {...stroke} />,
  folder: <path d="M1.8 4.2c0-.6.4-1 1-1h3l1.5 1.7h6c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1H2.8c-.6 0-1-.4-1-1z" {...stroke} />,
  file: <path d="M4 1.8h5l3.2 3.2v8.2c0 .6-.4 1-1 1H4c-.6 0-1-.4-1-1V2.8c0-.6.4-1 1-1zM9 1.8V5h3.2" {...stroke} />,
  grid: <path d="M2.2 2.2h4.6v4.6H2.2zM9.2 2.2h4.6v4.6H9.2zM2.2 9.2h4.6v4.6H2.2zM9.2 9.2h4.6v4.6H9.2z" {...stroke} />,
  map: <path d="M2.2 2.2h11.6v11.6H2.2zM8 2.2v11.6M2.2 9.2H8M8 6.2h5.8" {...stroke} />,
  shield: (
    <path d="M8 1.6 13.2 3.4v4.4c0 3.2-2.2 5.4-5.2 6.6-3-1.2-5.2-3.4-5.2-6.6V3.4zM5.6 8l1.8 1.8 3.2-3.4" {...stroke} />
  ),
  lanes: <path d="M2 3.6h6M5 6.8h8M3.4 10h5M7 13.2h6.4" {...stroke} strokeWidth={1.9} />,
  list: <path d="m1.8 4.2 1.2 1.2 2-2.4M7.4 4.4h6.8M1.8 10.8 3 12l2-2.4M7.4 11h6.8" {...stroke} />,
  bars: <path d="M2.6 13.4V9.6M6.2 13.4V6.4M9.8 13.4V8.2M13.4 13.4V2.8" {...stroke} strokeWidth={1.8} />,
  search: <path d="M7 11.8A4.8 4.8 0 1 0 7 2.2a4.8 4.8 0 0 0 0 9.6zm3.5-1.3L14 14" {...stroke} />,
  terminal: <path d="M1.8 2.8h12.4v10.4H1.8zM4.4 6l2 2-2 2M8.4 10.4h3" {...stroke} />,
  lock: <path d="M4.6 7.2V5a3.4 3.4 0 0 1 6.8 0v2.2M3.4 7.2h9.2v6.4H3.4z" {...stroke} />,
  branch: (
    <path
      d="M4.6 4.8v6.4M4.6 11.2a1.5 1.5 0 1 0 0 3M4.6 4.8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.4 6.4a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zm0 0c0 3-4 2.6-6.4 4"
      {...stroke}
    />
  ),
  copy: <path d="M5.4 5.4h8v8h-8zM10.6 5.4V2.6h-8v8h2.8" {...stroke} />,
  clock: <path d="M8 13.6A5.6 5.6 0 1 0 8 2.4a5.6 5.6 0 0 0 0 11.2zM8 4.8V8l2.2 1.6" {...stroke} />,
  down: <path d="m4.4 6.4 3.6 3.6 3.6-3.6" {...stroke} />,
  left: <path d="M9.8 3.4 5.2 8l4.6 4.6" {...stroke} strokeWidth={1.8} />,
  keyboard: <path d="M1.6 4h12.8v8H1.6zM4 6.4h.01M6.6 6.4h.01M9.2 6.4h.01M11.8 6.4h.01M4.6 9.6h6.8" {...stroke} />,
  coin: (
    <path
      d="M8 13.6A5.6 5.6 0 1 0 8 2.4a5.6 5.6 0 0 0 0 11.2zM9.8 6.2C9.6 5.4 8.9 5 8 5c-1 0-1.8.5-1.8 1.4 0 2 3.7 1 3.7 3.1 0 1-.9 1.5-1.9 1.5s-1.8-.5-2-1.4M8 4v1m0 6v1"
      {...stroke}
      strokeWidth={1.2}
    />
  ),
  pin: <path d="M5.4 1.8h5.2l-.8 4.6 2 2.2H4.2l2-2.2zM8 8.6v5.6" {...stroke} />,
  offline: (
    <path
      d="M2 2l12 12M4 9.6c.8-.8 1.7-1.3 2.7-1.5M1.8 6.6c.9-.8 1.9-1.4 3-1.8M8.6 5.2c2 .1 4 .9 5.6 2.3M7.2 12.6h1.6"
      {...stroke}
    />
  ),
  more: <path d="M3.6 8h.01M8 8h.01M12.4 8h.01" {...stroke} strokeWidth={2.4} />,
  enter: <path d="M13 3.6v4.8H3.4M6.2 5.4l-3 3 3 3" {...stroke} />,
  prompt: <path d="m5 4 4.4 4L5 12" {...stroke} strokeWidth={1.8} />,
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof SHAPES

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {SHAPES[name]}
    </svg>
  )
}

export function Brand(): ReactNode {
  return (
    <svg className="icon" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d="M3 3h2.6v14H3zM14.4 3H17v14h-2.6zM3 10h14v2.3H3z" fill="currentColor" />
      <path d="M10 2.2 12.4 5.2 10 8.2 7.6 5.2z" fill="var(--lamp-fill)" />
    </svg>
  )
}
