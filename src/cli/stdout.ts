// Output that has left the process when its promise resolves.

/** An exit right after a large write to a pipe would cut it off; so would not waiting for a slow reader. */
export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(`${text}\n`, (error) => {
      // The reader has gone (`heimdall … | head -1`): nobody is left to tell.
      if (error === null || error === undefined || ('code' in error && error.code === 'EPIPE')) resolve()
      else reject(error)
    })
  })
}
