package transom.kernel.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source of ticks, for ticks without rows. The column `tick_number` is the tick; `is_heartbeat` is true for
 * heartbeats, which only advance the watermark. The Python clock returns the same rows.
 */
public final class ClockSource implements TableProvider {
    private static final StructType SCHEMA = new StructType(new StructField[] {
        new StructField("tick_number", DataTypes.LongType, true, Metadata.empty()),
        new StructField("is_heartbeat", DataTypes.BooleanType, true, Metadata.empty())
    });

    /** Creates the clock, a streaming source of ticks; Spark calls this constructor by the class name. */
    public ClockSource() {}

    /** The schema of the clock's rows, which no option changes: the tick and whether the row is a heartbeat. */
    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    /** Returns the only table of the clock source; the arguments are ignored, as schema and partitioning are fixed. */
    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new ClockTable();
    }

    /** The clock as a table of Spark, which is read only as a stream. */
    private static final class ClockTable implements Table, SupportsRead {
        /** The name of the clock's table in Spark's plans. */
        @Override
        public String name() {
            return "transom_clock";
        }

        /** The schema of the clock's table: the tick and whether the row is a heartbeat. */
        @Override
        @SuppressWarnings("deprecation")
        public StructType schema() {
            return SCHEMA;
        }

        /** Tells Spark that the clock's table can be read only as a stream of micro-batches. */
        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        /** Parses the clock's settings from the JSON option `setting` and returns a builder of scans of this clock. */
        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            ClockSetting setting = ClockSetting.of(options.get("setting"));
            return () -> new ClockScan(setting);
        }
    }

    /** A scan of the ticks that a clock with these settings produces. */
    private record ClockScan(ClockSetting setting) implements Scan {
        /** The schema of the rows that a scan of the clock returns: the tick and whether the row is a heartbeat. */
        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        /** Describes a scan of the clock in Spark's plans: its name and settings. */
        @Override
        public String description() {
            return "transom_clock " + setting;
        }

        /**
         * Creates the stream of the clock's micro-batches. The checkpoint is ignored, as Spark's offset log suffices to
         * resume.
         */
        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new ClockStream(setting);
        }
    }
}
