package transom.kernel.files;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/**
 * The files of a checkpoint on a local disk. As with Spark's own manager, a file appears whole, by a rename.
 *
 * <p>Where Hadoop's native library is missing, Spark's manager starts up to three processes for each file (`chmod` and
 * `readlink`), and every stateful operator writes files in every partition and micro-batch. This manager starts none.
 */
public final class LocalCheckpointFileManager implements CheckpointFileManager {
    private final Path root;
    private final RawLocalFileSystem disk;

    /** Creates the manager of the checkpoint files below `root`. Spark calls this constructor by the class name. */
    public LocalCheckpointFileManager(Path root, Configuration configuration) throws IOException {
        this.root = root;
        this.disk = (RawLocalFileSystem) FileSystem.getLocal(configuration).getRaw();
    }

    /**
     * Opens a stream to a new file, which appears at `path` with all its bytes when the stream is closed. With
     * `overwrite` they replace a file that exists; otherwise closing the stream then throws FileAlreadyExistsException.
     */
    @Override
    public CheckpointFileManager.CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        File target = disk.pathToFile(path);
        java.nio.file.Path temporary = AtomicFile.temporary(target.toPath());
        try {
            BufferedOutputStream bytes = new BufferedOutputStream(Files.newOutputStream(temporary));
            return new AtomicFile(bytes, temporary, target.toPath(), overwrite);
        } catch (IOException error) {
            throw unchecked(error);
        }
    }

    /** Opens a file to read it; throws FileNotFoundException if it does not exist. */
    @Override
    public FSDataInputStream open(Path path) {
        try {
            return disk.open(path);
        } catch (IOException error) {
            throw unchecked(error);
        }
    }

    /**
     * Lists the files and folders in a folder that match a filter; throws FileNotFoundException if the folder does not
     * exist.
     */
    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        try {
            return disk.listStatus(path, filter);
        } catch (IOException error) {
            throw unchecked(error);
        }
    }

    /** Creates a folder and its parents; a folder that exists stays as it is. */
    @Override
    public void mkdirs(Path path) {
        try {
            Files.createDirectories(disk.pathToFile(path).toPath());
        } catch (IOException error) {
            throw unchecked(error);
        }
    }

    /** Whether a file or folder exists. */
    @Override
    public boolean exists(Path path) {
        return disk.pathToFile(path).exists();
    }

    /** Deletes a file, or a folder with its content; does nothing if it does not exist. */
    @Override
    public void delete(Path path) {
        try {
            disk.delete(path, true);
        } catch (IOException error) {
            throw unchecked(error);
        }
    }

    /** Whether the files are on a local disk: always true. */
    @Override
    public boolean isLocal() {
        return true;
    }

    /** Creates the folder of the checkpoint, and returns its path with the scheme `file`. */
    @Override
    public Path createCheckpointDirectory() {
        mkdirs(root);
        return disk.makeQualified(root);
    }

    /** Throws a checked exception from a method of a Scala trait, which declares none. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException unchecked(Throwable error) throws E {
        throw (E) error;
    }
}
