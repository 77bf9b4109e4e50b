package transom.kernel.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LocalCheckpointFileManagerTest {
    @TempDir
    java.nio.file.Path folder;

    private CheckpointFileManager manager;
    private Path file;

    @BeforeEach
    void open() throws IOException {
        Path root = new Path(folder.resolve("a b").toUri());
        manager = new LocalCheckpointFileManager(root, new Configuration(false));
        assertEquals(root, manager.createCheckpointDirectory());
        file = new Path(root, "7.delta");
    }

    private void write(String text, boolean overwrite) throws IOException {
        try (var out = manager.createAtomic(file, overwrite)) {
            out.write(text.getBytes(UTF_8));
        }
    }

    private String content() throws IOException {
        try (var in = manager.open(file)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private String[] names() {
        return Arrays.stream(manager.list(file.getParent()))
                .map(FileStatus::getPath)
                .map(Path::getName)
                .toArray(String[]::new);
    }

    @Test
    void fileAppearsWhenItIsClosed() throws IOException {
        try (var out = manager.createAtomic(file, false)) {
            out.write("state".getBytes(UTF_8));
            out.flush();
            assertFalse(manager.exists(file));
        }
        assertEquals("state", content());
        assertArrayEquals(new String[] {"7.delta"}, names());
    }

    @Test
    void fileIsReplacedOnlyOnRequest() throws IOException {
        write("first", false);
        assertThrows(FileAlreadyExistsException.class, () -> write("second", false));
        assertEquals("first", content());
        write("third", true);
        assertEquals("third", content());
        assertArrayEquals(new String[] {"7.delta"}, names());
    }

    @Test
    void cancelledFileNeverAppears() throws IOException {
        var out = manager.createAtomic(file, true);
        out.write(1);
        out.cancel();
        out.close();
        assertArrayEquals(new String[0], names());
    }

    @Test
    void missingFilesAreReportedAsSparkExpects() {
        assertThrows(FileNotFoundException.class, () -> manager.open(file));
        assertThrows(FileNotFoundException.class, () -> manager.list(new Path(file, "none")));
        manager.delete(file);
        assertFalse(manager.exists(file));
    }

    @Test
    void foldersAreMadeWithParentsAndDeletedWithContent() throws IOException {
        Path nested = new Path(file.getParent(), "x/y");
        manager.mkdirs(nested);
        manager.mkdirs(nested);
        assertTrue(manager.exists(nested));
        write("state", false);
        manager.delete(file.getParent());
        assertFalse(manager.exists(file));
        assertTrue(manager.isLocal());
    }
}
