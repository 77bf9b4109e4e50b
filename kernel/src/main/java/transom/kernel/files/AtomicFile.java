package transom.kernel.files;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/** A file that is written under a temporary name, and appears under its own name when the stream is closed. */
final class AtomicFile extends CheckpointFileManager.CancellableFSDataOutputStream {
    private final Path temporary;
    private final Path target;
    private final boolean overwrite;
    private boolean ended;

    /** Writes to `bytes`, the stream of the file `temporary`, which becomes `target`. */
    AtomicFile(OutputStream bytes, Path temporary, Path target, boolean overwrite) {
        super(bytes);
        this.temporary = temporary;
        this.target = target;
        this.overwrite = overwrite;
    }

    /** Returns a hidden, unique path for the temporary file, in the folder of the target file. */
    static Path temporary(Path target) {
        return target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".tmp");
    }

    /**
     * Closes the file and makes it visible under its own name. Without `overwrite`, throws FileAlreadyExistsException
     * if there is a file of that name. If anything fails, the temporary file is deleted.
     */
    @Override
    public synchronized void close() throws IOException {
        if (ended) {
            return;
        }
        ended = true;
        try {
            super.close();
            if (overwrite) {
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } else {
                publishNew();
            }
        } catch (java.nio.file.FileAlreadyExistsException error) {
            throw new FileAlreadyExistsException(target + " exists already");
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Gives the temporary file its own name, unless a file of that name exists: by a link, which unlike a rename never
     * replaces a file.
     */
    private void publishNew() throws IOException {
        try {
            Files.createLink(target, temporary);
        } catch (java.nio.file.FileAlreadyExistsException error) {
            throw error;
        } catch (UnsupportedOperationException | FileSystemException error) { // a disk without links
            if (Files.exists(target)) {
                throw new java.nio.file.FileAlreadyExistsException(target.toString());
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Deletes what was written so far, so that no file appears. */
    @Override
    public synchronized void cancel() {
        if (ended) {
            return;
        }
        ended = true;
        try {
            underlyingStream().close();
            Files.deleteIfExists(temporary);
        } catch (IOException error) {
            // Spark cancels after a failure, which it reports itself; nobody reads a hidden file that is left
        }
    }
}
