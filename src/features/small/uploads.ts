import * as v from 'valibot'
import { checkOptions, count, duration } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { createUploadReader, type FileUploadOptions, resolveUpload } from '../../http/limits/upload.ts'

const mediaTypes = v.pipe(
  v.array(
    v.pipe(
      v.string(),
      v.regex(/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)$/i, 'must be a media type such as image/png, or image/*'),
    ),
    'must be an array of strings',
  ),
  v.minLength(1, 'must have at least one type'),
)

const OptionsSchema = v.strictObject({
  maxFileSize: v.optional(count),
  maxFiles: v.optional(count),
  allowedMimeTypes: v.optional(mediaTypes),
  maxRequestSize: v.optional(count),
  timeoutMs: v.optional(duration),
  maxConcurrent: v.optional(count),
  maxTotalSize: v.optional(count),
})

/** Accepts files with a run, as `multipart/form-data`. Throws `invalid_options`. */
export function uploads(options: FileUploadOptions = {}): Plugin {
  return uploadsAs('uploads', options)
}

/** Makes the plugin under another name in its error texts. */
export function uploadsAs(name: string, options: FileUploadOptions): Plugin {
  checkOptions(name, OptionsSchema, options)
  const settings = resolveUpload(options)
  return asPlugin({
    name: 'uploads',
    uploads: ({ runs }) => createUploadReader(settings, runs.timeoutMs),
    mount: () => ({}),
  })
}
