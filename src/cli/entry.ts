// Where every launcher of bin/ comes in.
import { main } from './main.ts'

export function start(bin: string): void {
  void main(bin, process.argv.slice(2), process.env, process.cwd(), process).then((code) => {
    // Not process.exit(): what is still on its way to a pipe must get out.
    process.exitCode = code
  })
}
